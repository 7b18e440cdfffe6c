"""a measured table → the same, with the range of text that writes numbers or days by its values, not by its letters."""

from __future__ import annotations

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import ColumnProfile, TableProfile
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote

_CHARS = 200
"""Of one value, as elsewhere in a profile."""


async def by_value(engine: Engine, table: TableProfile) -> TableProfile:
    """The table with such ranges, as they are written; without one where no reading of the texts is sure."""
    columns = [await _ranged(engine, table.name, column) for column in table.columns]
    return table.model_copy(update={"columns": tuple(columns)})


async def _ranged(engine: Engine, table: str, column: ColumnProfile) -> ColumnProfile:
    form = column.form
    if form is None or form.sortable or column.minimum is None:
        return column
    ends: tuple[str | None, str | None] = (None, None)
    if form.sql:
        value, name = form.sql.replace("{x}", "t"), quote(column.name)
        shown = ", ".join(f"left({pick}(t, v), {_CHARS})" for pick in ("arg_min", "arg_max"))
        texts = f"select {name} as t from {quote(table)} where {name} is not null"
        try:
            found = await engine.query(f"select {shown} from (select t, {value} as v from ({texts}))", 1)
        except QueryError:
            return column.model_copy(update={"minimum": None, "maximum": None})
        low, high = found.rows[0]
        ends = (None if low is None else str(low), None if high is None else str(high))
    return column.model_copy(update={"minimum": ends[0], "maximum": ends[1]})
