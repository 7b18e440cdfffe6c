"""A query that failed + its error + the tables → the query mended by code, with the reasons, where code can tell how.

Small models repeat a mistake after they are shown it, so what has one right reading is set right without them.
Of a query that runs only text that counts as number or day is set right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tasks.solve.mending.columns import mend_columns, mend_conditions, mend_tables
from tasks.solve.mending.dialect import mend_aggregates, mend_grouping, mend_text, mend_types, parse
from tasks.solve.mending.forms import mend_forms
from tasks.solve.mending.scopes import Schema

_CONVERSION = re.compile(r"(?i)conver|field format|cast is required|cannot compare|could not parse")


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
    if _CONVERSION.search(error):
        reasons += mend_forms(tree, schema)
    return Repair(tree.sql("duckdb"), tuple(dict.fromkeys(reasons))) if reasons else None


def converted(sql: str, schema: Schema) -> Repair | None:
    """A query that runs, with text columns read in the format of their values where it takes them for numbers or days."""
    tree, read = parse(sql)
    if tree is None or read:
        return None
    reasons = mend_forms(tree, schema)
    return Repair(tree.sql("duckdb"), tuple(reasons)) if reasons else None
