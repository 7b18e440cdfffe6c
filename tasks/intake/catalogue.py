"""Inventory + snapshots → Catalogue: every table loaded once into one DuckDB file, and the last word on every file."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue, Table
from tasks.core.models.source import Inventory, Snapshot, SourceFile
from tasks.core.sections import IntakeSettings
from tasks.core.wording import counted
from tasks.intake.loading.client import Client
from tasks.intake.loading.documents import keep_documents
from tasks.intake.loading.naming import Named, canonical
from tasks.intake.loading.part import Part
from tasks.intake.loading.snapshots import named, source_of
from tasks.stage import stage

_LEFT_SECONDS = 86_400
"""A draft this old was left by a run that was killed."""
_SMALL_BYTES = 64 << 20
"""Sources with no more are stored in small blocks: a table takes one at least, and there may be thousands."""


@stage()
async def build_catalogue(
    inventory: Inventory, limits: IntakeSettings, snapshots: tuple[Snapshot, ...] = ()
) -> Catalogue:
    """Load every file, and every table of a database, that shall become tables. One that cannot be read costs itself only.

    Raises InputError when the disk takes no more. A file that ran out of time is tried again by the next run.
    """
    store = stores.current()
    _sweep(store.cache)
    with store.scratch("catalogue-") as place:
        database = Path(place) / "catalogue.duckdb"
        client = Client(database, "the catalogue", limits)
        sources = _Sources(client)
        try:
            await client.open(_bytes(inventory, snapshots) <= _SMALL_BYTES)
            files = [await sources.load(Path(inventory.root), file) for file in inventory.files]
            files += [await sources.load_snapshot(snapshot) for snapshot in snapshots]
            tables = await sources.finish()
        finally:
            await client.close()
        kept = store.put_file(database)
    return Catalogue(
        database=kept,
        tables=tables,
        files=tuple(files),
        documents=keep_documents(inventory),
        unsettled="stopped" if client.passing else "",
    )


def _bytes(inventory: Inventory, snapshots: tuple[Snapshot, ...]) -> int:
    taken = sum(table.content.size for snapshot in snapshots for table in snapshot.tables)
    return taken + sum(file.size for file in inventory.of("table"))


def _sweep(cache: Path) -> None:
    for left in cache.glob("catalogue-*"):
        if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


class _Sources:
    """What was loaded so far, file by file."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._parts: list[tuple[SourceFile, Part]] = []

    async def load(self, root: Path, file: SourceFile) -> SourceFile:
        """Load one file; the file with its final outcome."""
        if file.outcome != "table":
            return file
        loaded = await self._client.load(root / file.path, file.sha256, file.kind, file.path)
        self._parts += [(file, part) for part in loaded.parts]
        if loaded.error or not loaded.parts:
            reason = loaded.error or "; ".join(loaded.unread)
            return file.model_copy(update={"outcome": "unreadable", "reason": reason})
        return file.model_copy(update={"reason": "; ".join((*filter(None, [file.reason]), *loaded.unread))})

    async def load_snapshot(self, snapshot: Snapshot) -> SourceFile:
        """Load the tables of a live database; it stands among the files with its address."""
        file = source_of(snapshot)
        unread = list(snapshot.unread)
        for table in snapshot.tables:
            path = stores.current().local(table.content)
            loaded = await self._client.load(path, table.content.sha256, "parquet", f"{table.name} of {file.path}")
            self._parts += [(file, named(part, table)) for part in loaded.parts]
            if not loaded.parts:
                unread.append(f"table {table.name}: {loaded.error}")
        return (
            file.model_copy(
                update={"reason": "; ".join(f"live database: {said.replace('; ', ', ')}" for said in unread)}
            )
            if unread
            else file
        )

    async def finish(self) -> tuple[Table, ...]:
        """Give every table its final name and close the file."""
        names = canonical([Named(part.name, file.path, file.kind) for file, part in self._parts])
        used = {name.casefold() for name in names}
        renames: list[tuple[str, str]] = []
        tables = []
        for (file, part), name in zip(self._parts, names, strict=True):
            renames.append((part.stored, name))
            notes = part.notes
            if part.set_aside:
                aside = _free(f"{name}__set_aside", used)
                renames.append((f"{part.stored}__set_aside", aside))
                notes = (*notes, f"{_aside(part)} kept in {aside}")
            if name != part.name:
                notes = (*notes, f"called {part.name!r} in its source; other tables have that name too")
            tables.append(_table(file, part, name, notes))
        await self._client.finish(renames)
        return tuple(tables)


def _aside(part: Part) -> str:
    """What is set aside of a table: rows that could not be read, titles, or both."""
    unread = part.set_aside - part.titles
    if not unread:
        return "lines above the header are"
    titles = f" (and {part.titles:,} above the header)" if part.titles else ""
    return f"{counted(unread, 'line is not in it; it is', 'lines are not in it; they are')}{titles}"


def _free(name: str, used: set[str]) -> str:
    while name.casefold() in used:
        name += "_"
    used.add(name.casefold())
    return name


def _table(file: SourceFile, part: Part, name: str, notes: tuple[str, ...]) -> Table:
    return Table(
        name=name,
        path=file.path,
        inner=part.inner,
        columns=part.columns,
        rows=part.rows,
        set_aside=part.set_aside,
        titles=part.titles,
        notes=notes,
    )
