"""SQL + a catalogue file → results, in a killable child: time and memory bombs cost only that child."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from tasks.core.errors import QueryError
from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.query import QueryResult
from tasks.core.models.value import Cell
from tasks.core.process import ChildError, Worker
from tasks.core.sections import QuerySettings

_START_SECONDS = 60.0
"""Starting the child and opening the file; not charged to a query."""
_EXPORT_FACTOR = 2
"""Writing the file comes on top of a query that may have just fitted its limit."""
_SHARE = 2
"""DuckDB may use one part in this many of the address space: the rest is for libraries, allocator and result."""


class Engine:
    """A read-only catalogue that answers one query at a time; use as an async context manager.

    `derived` is a second database whose tables stand beside the first one's; no name may be in both. `metadata` is the
    description of all of them, whose tables are read as `metadata.column_info` and so on.
    """

    def __init__(
        self, database: Path, limits: QuerySettings, derived: Path | None = None, metadata: Path | None = None
    ) -> None:
        self.database = database
        self.derived = derived
        self.metadata = metadata
        self.limits = limits
        self._worker = Worker("tasks.core.sql.child", limits.memory_mb, forked=True)
        self._ready = False

    @classmethod
    def over(cls, catalogue: Catalogue, limits: QuerySettings) -> Engine:
        """All tables of a catalogue, from the current store."""
        local = stores.current().local
        derived, metadata = (local(ref) if ref else None for ref in (catalogue.derived, catalogue.metadata))
        return cls(local(catalogue.database), limits, derived, metadata)

    async def query(self, sql: str, preview_rows: int | None = None) -> QueryResult:
        """Run one SELECT: at most `preview_rows` rows to look at, count and digest of all.

        Raises QueryError when it is refused, fails, or needs more than the limits' seconds or memory.
        """
        preview = self.limits.preview_rows if preview_rows is None else preview_rows
        request = {"do": "query", "sql": sql, "preview": preview, "max_rows": self.limits.max_rows}
        return QueryResult.model_validate(await self._ask(request, self.limits.seconds))

    async def export(self, sql: str, path: Path) -> QueryResult:
        """Run one SELECT and write its rows as CSV: UTF-8, comma, header, `\\n`, NULL as an empty field.

        The file appears whole or not at all. Raises QueryError like `query`, after twice the seconds.
        """
        target = path.absolute()
        request = {
            "do": "export",
            "sql": sql,
            "preview": self.limits.preview_rows,
            "max_rows": self.limits.max_rows,
            "path": str(target),
        }
        try:
            return QueryResult.model_validate(await self._ask(request, self.limits.seconds * _EXPORT_FACTOR))
        except BaseException:
            target.with_name(target.name + ".part").unlink(missing_ok=True)
            raise

    async def measure(
        self, statements: list[str], seconds: float, guarded: bool = False
    ) -> list[list[tuple[Cell, ...]]]:
        """Rows of each of our own statements; `seconds` for all of them together.

        They are not guarded, unless parts of a model's query are in them. Raises QueryError when one of them fails or the
        time is over.
        """
        reply = await self._ask({"do": "measure", "statements": statements, "guarded": guarded}, seconds)
        return [[tuple(row) for row in rows] for rows in reply["rows"]]

    async def close(self) -> None:
        """End the child; the next query starts another."""
        self._ready = False
        await self._worker.close()

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        where = {
            "database": str(self.database),
            "derived": str(self.derived or ""),
            "metadata": str(self.metadata or ""),
            "memory_mb": self.limits.memory_mb // _SHARE,
        }
        reply: dict[str, Any] = {}
        try:
            if not self._ready:
                reply = await self._worker.ask({"do": "open", **where}, _START_SECONDS)
                self._ready = "tables" in reply
            if self._ready:
                reply = await self._worker.ask({**request, **where}, seconds)
        except ChildError as error:
            self._ready = False
            raise QueryError(*self._stopped(error, seconds)) from error
        except BaseException:
            self._ready = False
            raise
        if reply.get("memory"):
            await self.close()
            raise QueryError(*self._too_big())
        if "error" in reply:
            raise QueryError(reply["error"])
        return reply

    def _stopped(self, error: ChildError, seconds: float) -> tuple[str, str]:
        if error.stopped == "time":
            return f"query took longer than {seconds:.3g} s", "join on keys, filter earlier, or aggregate in steps"
        if error.stopped == "memory":
            return self._too_big()
        return f"the database process {error.message}", "write the query in another way"

    def _too_big(self) -> tuple[str, str]:
        hint = "filter or aggregate before joining, and select fewer columns"
        return f"query needed more memory than its limit of {self.limits.memory_mb} MB", hint
