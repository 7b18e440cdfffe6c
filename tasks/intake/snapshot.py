"""databases of metadata.yaml → their tables as they are now; one that cannot be read costs itself only."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tasks.core import settings
from tasks.core.errors import InputError
from tasks.core.files import store as stores
from tasks.core.masking import masked
from tasks.core.models.metadata import DatabaseNote
from tasks.core.models.source import Snapshot, TableSnapshot
from tasks.core.process import ChildError, Worker
from tasks.core.sections import DatabasesSettings
from tasks.core.sql.address import Address, parse
from tasks.stage import stage

_START_SECONDS = 60
"""Starting the child; connecting has its own limit."""
_LEAST_SECONDS = 1.0


@stage(fresh=True)
async def snapshot_databases(databases: tuple[DatabaseNote, ...], limits: DatabasesSettings) -> tuple[Snapshot, ...]:
    """Read every database anew, each in one read-only transaction. What fails is said with its next step, not raised."""
    return tuple([await _snapshot(note, limits) for note in databases])


async def _snapshot(note: DatabaseNote, limits: DatabasesSettings) -> Snapshot:
    try:
        address = _address(note, limits)
    except InputError as error:
        return Snapshot(name=note.name, address=f"database:{note.name}", error=f"{error.message}; {error.hint}")
    with stores.current().scratch("snapshot-") as folder:
        reading = _Reading(note, address, limits, Path(folder))
        try:
            return await reading.read()
        finally:
            await reading.worker.close()


def _address(note: DatabaseNote, limits: DatabasesSettings) -> Address:
    """Where it is. The folder's own file may name this machine only: folders come from anywhere."""
    if note.url_env:
        url = settings.secret(note.url_env).get_secret_value()
        if not url:
            raise InputError(f"the environment variable {note.url_env} is not set", "set it to the URL of the database")
        try:
            return parse(url)
        except InputError as error:
            raise InputError(f"the environment variable {note.url_env}: {error.message}", error.hint) from None
    address = parse(note.url)
    if not address.socket and address.host not in limits.hosts:
        hint = "put the URL into an environment variable and name that in url_env, or add the host to databases.hosts"
        raise InputError(f"a file may not send a run to the host {address.host!r}", hint)
    return address


class _Reading:
    """One database: a request to the child for each table, until the time is over."""

    def __init__(self, note: DatabaseNote, address: Address, limits: DatabasesSettings, folder: Path) -> None:
        self.worker = Worker("tasks.intake.snapshotting.child", limits.memory_mb)
        self._note, self._address, self._limits, self._folder = note, address, limits, folder
        self._deadline = time.monotonic() + limits.seconds
        self._unread: list[str] = []

    async def read(self) -> Snapshot:
        """All its tables, or why there are none."""
        request = {"do": "open", "address": asdict(self._address), "seconds": self._limits.seconds}
        reply = await self._ask(request, min(self._limits.seconds, _START_SECONDS))
        made = Snapshot(name=self._note.name, address=self._address.shown)
        if "error" in reply:
            return made.model_copy(update={"error": "; ".join(filter(None, (reply["error"], reply.get("hint", ""))))})
        tables = []
        for number, (name, sql, note) in enumerate(self._wanted(reply["tables"])):
            if table := await self._table(number, (name, sql, note)):
                tables.append(table)
        return made.model_copy(
            update={
                "tables": tuple(tables),
                "unread": tuple(self._unread),
                "server": reply["server"],
                "taken_at": reply["taken_at"],
            }
        )

    def _wanted(self, listed: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        names = {name.casefold() for name, _, _ in listed}
        if self._note.tables:
            wanted = {name.casefold() for name in self._note.tables}
            for name in self._note.tables:
                if name.casefold() not in names:
                    self._unread.append(f"table {name}: there is none of that name that {self._address.user!r} may see")
            return [table for table in listed if table[0].casefold() in wanted]
        more = len(listed) - self._limits.max_tables
        if more > 0:
            said = "more than databases.max_tables; name those that are needed"
            self._unread.append(f"{more} of {len(listed)} tables: {said}")
        return listed[: self._limits.max_tables]

    async def _table(self, number: int, table: tuple[str, str, str]) -> TableSnapshot | None:
        name, sql, note = table
        path = self._folder / f"{number}.parquet"
        left = self._deadline - time.monotonic()
        if left < _LEAST_SECONDS:
            self._unread.append(f"table {name}: no time was left; raise databases.seconds, or name fewer tables")
            return None
        most = (self._limits.max_rows, self._limits.max_mb << 20)
        reply = await self._ask({"do": "read", "table": sql, "path": str(path), "most": most}, left)
        if "error" in reply:
            self._unread.append(f"table {name}: {reply['error']}")
            path.unlink(missing_ok=True)
            return None
        content = await asyncio.to_thread(stores.current().put_file, path, "table.parquet")
        return TableSnapshot(name=name, content=content, rows=reply["rows"], note=note, said=tuple(reply["said"]))

    async def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            return await self.worker.ask(request, seconds)
        except ChildError as error:
            hint = {"time": "raise databases.seconds", "memory": "raise databases.memory_mb"}.get(
                error.stopped, "run again"
            )
            said = masked(error.message, (self._address.password,))
            return {"error": f"reading it {said}", "hint": hint}
