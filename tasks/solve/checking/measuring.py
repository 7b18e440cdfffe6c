"""our own counts over parts of the answer's query, within one deadline; what cannot be counted is None."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import TableProfile
from tasks.core.models.value import Cell
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote

if TYPE_CHECKING:
    from sqlglot import exp

_CLAUSES = ("order", "limit", "offset", "distinct", "qualify", "windows")


class Measuring:
    """Counts for one answer."""

    def __init__(self, engine: Engine, tree: exp.Expr) -> None:
        self.engine = engine
        self.tree = tree
        self.deadline = time.monotonic() + engine.limits.seconds

    async def row(self, statement: str) -> tuple[Cell, ...] | None:
        """The first row of a statement; None when it fails or the time is over."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            return None
        try:
            rows = (await self.engine.measure([statement], seconds, guarded=True))[0]
        except QueryError:
            return None
        return rows[0] if rows else None

    def over(self, select: exp.Select, outputs: list[str], grouped: bool = False) -> str:
        """A SELECT of other outputs over the same rows, with the CTEs that it can name."""
        from sqlglot import exp, parse_one

        copy = select.copy()
        for clause in _CLAUSES + (() if grouped else ("group", "having")):
            copy.set(clause, None)
        copy.set("expressions", [parse_one(output, read="duckdb") for output in outputs])
        outer = self.tree.args.get("with_")
        if outer and select is not self.tree and not isinstance(select.find_ancestor(exp.With), exp.With):
            copy.set("with_", outer.copy())
        return copy.sql("duckdb")


def whole(count: Cell) -> int:
    """A count as a number; 0 for NULL, which a sum over no rows gives."""
    return 0 if count is None else int(str(count))


def identity(table: exp.Table, profile: TableProfile) -> str:
    """What tells the rows of a table apart: its key, or the engine's number of the row."""
    key = next((column.name for column in profile.columns if column.is_key), None)
    return f"{quote(table.alias_or_name)}.{quote(key) if key else 'rowid'}"
