"""A query that failed + its error + the tables → the query mended by code, with the reasons, where code can tell how.

Small models repeat a mistake after they are shown it, so what has one right reading is set right without them.
A query that runs is never handed to this.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.solve.mending.columns import mend_columns, mend_conditions, mend_tables
from tasks.solve.mending.dialect import mend_aggregates, mend_grouping, mend_text, mend_types, parse
from tasks.solve.mending.scopes import Schema


@dataclass(frozen=True)
class Repair:
    """A mended query."""

    sql: str
    reasons: tuple[str, ...]


def repair(sql: str, error: str, schema: Schema) -> Repair | None:
    """The query with everything mended that the error or the tables show to be wrong; None when that is nothing."""
    text, reasons = mend_text(sql, schema)
    tree, read = parse(text)
    if tree is None:
        return Repair(text, tuple(reasons)) if reasons else None
    reasons += read
    reasons += mend_tables(tree, schema)
    reasons += mend_conditions(tree, schema)
    reasons += mend_columns(tree, schema)
    reasons += mend_grouping(tree, error)
    reasons += mend_aggregates(tree, error)
    reasons += mend_types(tree, error, schema)
    return Repair(tree.sql("duckdb"), tuple(dict.fromkeys(reasons))) if reasons else None
