"""Text columns of a catalogue → their distinct values, a batch of columns at a time, those with too many left out."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import Catalogue
from tasks.core.sections import RecallSettings
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote

_BATCH_VALUES, _BATCH_STATEMENTS = 60_000, 200
_SMALL = 1000
"""Rows of a table that is read whole."""
_FAILURES = 50
"""Statements that may fail before the rest is given up: then it is the database that fails."""


@dataclass(frozen=True)
class TextColumn:
    """A text column; `id` as the metadata knows it."""

    id: str
    table: str
    name: str
    rows: int


@dataclass(frozen=True)
class Distinct:
    """The values of a column in their own order; None when there are too many, or with a `problem`."""

    column: TextColumn
    values: tuple[str, ...] | None
    problem: str = ""


Unit = tuple[TextColumn, ...]
"""Columns of one table that one statement reads."""


def text_columns(catalogue: Catalogue) -> list[TextColumn]:
    """Those that may hold names and categories, small tables first."""
    found = [
        TextColumn(f"{table.name}.{column.name}", table.name, column.name, table.rows)
        for table in catalogue.tables
        for column in table.columns
        if column.type == "VARCHAR"
    ]
    return sorted(found, key=lambda column: column.rows)


class Reader:
    """Reads distinct values within a time (`deadline` on the monotonic clock)."""

    def __init__(self, engine: Engine, settings: RecallSettings, deadline: float) -> None:
        self._engine, self._settings, self._deadline = engine, settings, deadline
        self._failed = 0

    async def read(self, columns: Sequence[TextColumn]) -> AsyncIterator[list[Distinct]]:
        """Values of at most `value_chars` of each column that has no more than `value_cap` different ones.

        What the time does not allow, or the database cannot, comes with its problem.
        """
        for batch in _batches(columns, self._settings.value_cap):
            yield [found for unit in await self._ask(batch) for found in unit]

    async def _ask(self, batch: list[Unit]) -> list[list[Distinct]]:
        """What fails together is asked again one by one, so that a bad column costs only itself."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0 or self._failed >= _FAILURES:
            why = "no time was left" if seconds <= 0 else f"{self._failed} others before could not be read"
            return [[Distinct(column, None, why) for column in unit] for unit in batch]
        try:
            answers = await self._engine.measure([_statement(unit, self._settings) for unit in batch], seconds)
            return [self._kept(unit, rows) for unit, rows in zip(batch, answers, strict=True)]
        except QueryError as error:
            if len(batch) == 1 == len(batch[0]):
                self._failed += 1
                return [[Distinct(batch[0][0], None, error.message)]]
        parts: list[list[Unit]] = [[unit] for unit in batch] if len(batch) > 1 else [[(c,)] for c in batch[0]]
        answers_by_part = [await self._ask(part) for part in parts]
        if len(batch) > 1:
            return [part[0] for part in answers_by_part]
        return [[found for part in answers_by_part for found in part[0]]]

    def _kept(self, unit: Unit, rows: Sequence[Sequence[object]]) -> list[Distinct]:
        found = []
        for at, column in enumerate(unit):
            texts = {str(row[at]) for row in rows if row[at]}
            values = tuple(sorted(text for text in texts if len(text) <= self._settings.value_chars))
            found.append(Distinct(column, values if len(values) <= self._settings.value_cap else None))
        return found


def _statement(unit: Unit, settings: RecallSettings) -> str:
    """All rows of a small table, which costs less than aggregating them; of a large one a column's distinct values."""
    longest, table = settings.value_chars, quote(unit[0].table)
    names = [quote(column.name) for column in unit]
    if unit[0].rows <= _SMALL:
        return f"SELECT {', '.join(f'left({name}, {longest + 1})' for name in names)} FROM {table}"
    fits = f"{names[0]} <> '' AND length({names[0]}) <= {longest}"
    return f"SELECT DISTINCT {names[0]} FROM {table} WHERE {fits} LIMIT {settings.value_cap + 1}"


def _units(columns: Sequence[TextColumn]) -> Iterator[Unit]:
    for _, same in groupby(columns, key=lambda column: column.table):
        unit = tuple(same)
        yield from [unit] if unit[0].rows <= _SMALL else [(column,) for column in unit]


def _batches(columns: Sequence[TextColumn], cap: int) -> Iterator[list[Unit]]:
    batch: list[Unit] = []
    total = 0
    for unit in _units(columns):
        most = len(unit) * min(unit[0].rows, cap)
        if batch and (total + most > _BATCH_VALUES or len(batch) == _BATCH_STATEMENTS):
            yield batch
            batch, total = [], 0
        batch.append(unit)
        total += most
    if batch:
        yield batch
