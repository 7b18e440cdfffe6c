"""Inventory → Catalogue: every table loaded once into one DuckDB file, and the last word on every file."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue, Table
from tasks.core.models.source import Inventory, Snapshot, SourceFile
from tasks.core.process import ChildError, Worker
from tasks.core.sections import IntakeSettings
from tasks.intake.loading.documents import keep_documents
from tasks.intake.loading.naming import Named, canonical
from tasks.intake.loading.part import Loaded, Part
from tasks.intake.loading.snapshots import named, source_of
from tasks.stage import stage

_START_SECONDS = 120
_FINISH_SECONDS = 600
_LEFT_SECONDS = 86_400
"""A draft this old was left by a run that was killed."""
_ROOM_BYTES = 1 << 20
"""A disk with less room counts as full."""


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
        folder = Path(place)
        loading = _Loading(folder, limits)
        try:
            await loading.start()
            files = [await loading.load(Path(inventory.root), file) for file in inventory.files]
            files += [await loading.load_snapshot(snapshot) for snapshot in snapshots]
            tables = await loading.finish()
        finally:
            await loading.worker.close()
        database = store.put_file(folder / "catalogue.duckdb")
    return Catalogue(
        database=database,
        tables=tables,
        files=tuple(files),
        documents=keep_documents(inventory),
        unsettled="stopped" if loading.passing else "",
    )


def _sweep(cache: Path) -> None:
    for left in cache.glob("catalogue-*"):
        if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


class _Loading:
    """The parent's side: one request a file to the child, which is made anew when it was stopped."""

    def __init__(self, folder: Path, limits: IntakeSettings) -> None:
        self.worker = Worker("tasks.intake.loading.loader", limits.memory_mb)
        self._limits = limits
        self._scratch = folder / "scratch"
        self._scratch.mkdir()
        self._database = folder / "catalogue.duckdb"
        self._parts: list[tuple[SourceFile, Part]] = []
        self._number = 0
        self.passing = False
        """Whether a file failed for a reason that may be gone the next time."""

    async def start(self) -> None:
        """Open the database. Raises InputError when the child cannot do even that."""
        try:
            await self._ask({}, _START_SECONDS)
        except ChildError as error:
            self._check_room(error, "open the catalogue")
            raise InputError(
                f"files cannot be read here: the reading process {error.message}",
                f"see `tablewright doctor`; where memory is short, raise intake.memory_mb ({self._limits.memory_mb})",
            ) from error

    async def load(self, root: Path, file: SourceFile) -> SourceFile:
        """Load one file; the file with its final outcome."""
        if file.outcome != "table":
            return file
        loaded = await self._load(root / file.path, file.sha256, file.kind, file.path)
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
            loaded = await self._load(path, table.content.sha256, "parquet", f"{table.name} of {file.path}")
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

    async def _load(self, path: Path, sha256: str, kind: str, shown: str) -> Loaded:
        self._number += 1
        request = {
            "path": str(path),
            "sha256": sha256,
            "kind": kind,
            "stored": f"source_{self._number}",
            "sample_bytes": self._limits.sample_bytes,
            "view_seconds": self._limits.file_seconds / 10,
        }
        try:
            loaded = Loaded.model_validate(await self._ask(request, self._limits.file_seconds))
        except ChildError as error:
            self._check_room(error, f"load {shown}")
            loaded = Loaded(error=f"reading it {error.message}", passing=error.stopped == "time")
        if loaded.disk:
            raise _no_room(f"load {shown}", loaded.disk)
        self.passing |= loaded.passing
        return loaded

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
                unread = part.set_aside - part.titles
                said = f"{unread:,} lines are not in it; they are" if unread else "lines above the header are"
                notes = (*notes, f"{said} kept in {aside}")
            if name != part.name:
                notes = (*notes, f"called {part.name!r} in its source; other tables have that name too")
            tables.append(_table(file, part, name, notes))
        try:
            await self._ask({"names": renames}, _FINISH_SECONDS)
        except ChildError as error:
            self._check_room(error, "finish the catalogue")
            raise InputError(f"the catalogue cannot be finished: the process {error.message}", "run again") from error
        return tuple(tables)

    def _check_room(self, error: ChildError, what: str) -> None:
        """Raise InputError when a child ended for want of disk; on a full one its last words may be lost too."""
        full = min(shutil.disk_usage(place).free for place in (self._scratch, tempfile.gettempdir())) < _ROOM_BYTES
        if error.stopped == "disk" or (error.stopped == "died" and full):
            raise _no_room(what, error.message if error.stopped == "disk" else "the disk is full") from error

    async def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        return await self.worker.ask(
            {**request, "database": str(self._database), "scratch": str(self._scratch)}, seconds
        )


def _no_room(what: str, message: str) -> InputError:
    return InputError(f"no room to {what}: {message}", "free disk space, or set store.path and TMPDIR to another disk")


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
        notes=notes,
    )
