"""Text columns of a catalogue → their distinct values, a batch of columns at a time, those with too many left out."""

from __future__ import annotations

import json
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
            return [self._kept(unit, rows[0]) for unit, rows in zip(batch, answers, strict=True)]
        except QueryError as error:
            if len(batch) == 1 == len(batch[0]):
                self._failed += 1
                return [[Distinct(batch[0][0], None, error.message)]]
        parts: list[list[Unit]] = [[unit] for unit in batch] if len(batch) > 1 else [[(c,)] for c in batch[0]]
        answers_by_part = [await self._ask(part) for part in parts]
        if len(batch) > 1:
            return [part[0] for part in answers_by_part]
        return [[found for part in answers_by_part for found in part[0]]]

    def _kept(self, unit: Unit, row: Sequence[object]) -> list[Distinct]:
        found = []
        for column, cell in zip(unit, row, strict=True):
            values = tuple(json.loads(str(cell))) if cell is not None else ()
            found.append(Distinct(column, values if len(values) <= self._settings.value_cap else None))
        return found


def _statement(unit: Unit, settings: RecallSettings) -> str:
    """One row, a list for each column. A large table is read by column, no further than the cap."""
    table, cap = quote(unit[0].table), settings.value_cap
    fits = "{0} <> '' AND length({0}) <= " + str(settings.value_chars)
    names = [quote(column.name) for column in unit]
    if unit[0].rows <= cap:
        lists = [f"list_sort(list(DISTINCT {name}) FILTER ({fits.format(name)}))" for name in names]
        return f"SELECT {', '.join(lists)} FROM {table}"
    inner = f"SELECT DISTINCT {names[0]} AS v FROM {table} WHERE {fits.format(names[0])} LIMIT {cap + 1}"
    return f"SELECT list(v ORDER BY v) FROM ({inner})"


def _units(columns: Sequence[TextColumn], cap: int) -> Iterator[Unit]:
    for _, same in groupby(columns, key=lambda column: column.table):
        unit = tuple(same)
        yield from [unit] if unit[0].rows <= cap else [(column,) for column in unit]


def _batches(columns: Sequence[TextColumn], cap: int) -> Iterator[list[Unit]]:
    batch: list[Unit] = []
    total = 0
    for unit in _units(columns, cap):
        most = len(unit) * min(unit[0].rows, cap)
        if batch and (total + most > _BATCH_VALUES or len(batch) == _BATCH_STATEMENTS):
            yield batch
            batch, total = [], 0
        batch.append(unit)
        total += most
    if batch:
        yield batch
