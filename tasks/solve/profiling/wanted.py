"""Catalogue and what was measured before → every column to measure, and the facts of all in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tasks.core.models.catalogue import Catalogue
from tasks.core.sql.columns import Facts, Measured, Wanted

COLUMNS_SHARE = 0.7
"""Of the time, for the columns; joins have the rest."""


def wanted(catalogue: Catalogue) -> list[Wanted]:
    """Every column of every table."""
    return [Wanted(t.name, c.name, c.type, t.rows) for t in catalogue.tables for c in t.columns]


def lacking(columns: Sequence[Wanted], known: Measured | None) -> list[Wanted]:
    """Those of which nothing is known."""
    have = {(table, column) for table, column, _ in known.columns} if known else set()
    return [one for one in columns if (one.table, one.column) not in have]


def together(columns: Sequence[Wanted], known: Measured | None, fresh: Sequence[Facts]) -> list[Facts]:
    """Facts of all columns, in order; `fresh` are those of the lacking ones."""
    have = {(table, column): facts for table, column, facts in known.columns} if known else {}
    rest: Iterator[Facts] = iter(fresh)
    return [found if (found := have.get((one.table, one.column))) else next(rest) for one in columns]
