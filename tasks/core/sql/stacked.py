"""Columns of many small tables → one source of rows (k, v), so that one statement measures all of them.

Planning a statement costs milliseconds and reading a small table microseconds, so columns of one type are put under each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from tasks.core.sql.names import quote

T = TypeVar("T")
SMALL_ROWS = 5_000
"""Of a table whose columns are put together with others."""
_COLUMNS, _VALUES = 320, 200_000
"""Most of one statement."""


def stack(columns: Sequence[tuple[str, str]]) -> str:
    """SQL of all values of these columns (table, column), which have one type: `k` is a column's place in the sequence."""
    parts = []
    for table, places in groupby(range(len(columns)), key=lambda place: columns[place][0]):
        some = [*places]
        names = ", ".join(quote(columns[place][1]) for place in some)
        parts.append(f"SELECT unnest([{', '.join(map(str, some))}]) AS k, unnest([{names}]) AS v FROM {quote(table)}")
    return " UNION ALL ".join(parts)


def stacks(items: Sequence[T], kind: Callable[[T], str], rows: Callable[[T], int]) -> Iterator[list[T]]:
    """Columns that one statement takes: of one `kind`, in order; `rows` are those of a column's table."""
    by_kind: dict[str, list[T]] = {}
    for item in items:
        by_kind.setdefault(kind(item), []).append(item)
    for same in by_kind.values():
        chosen: list[T] = []
        values = 0
        for item in same:
            if chosen and (len(chosen) == _COLUMNS or values + rows(item) > _VALUES):
                yield chosen
                chosen, values = [], 0
            chosen.append(item)
            values += rows(item)
        yield chosen
