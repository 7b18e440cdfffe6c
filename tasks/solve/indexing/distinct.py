"""Text columns of a catalogue → their distinct values, a batch of columns at a time, those with too many left out."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import Catalogue
from tasks.core.sections import RecallSettings
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote

_BATCH_VALUES, _BATCH_COLUMNS = 60_000, 200


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


def text_columns(catalogue: Catalogue) -> list[TextColumn]:
    """Those that may hold names and categories, small tables first."""
    found = [
        TextColumn(f"{table.name}.{column.name}", table.name, column.name, table.rows)
        for table in catalogue.tables
        for column in table.columns
        if column.type == "VARCHAR"
    ]
    return sorted(found, key=lambda column: column.rows)


async def distinct_values(
    engine: Engine, columns: Sequence[TextColumn], settings: RecallSettings, deadline: float
) -> AsyncIterator[Distinct]:
    """Values of at most `value_chars` of each column that has no more than `value_cap` different ones.

    What the time (`deadline` on the monotonic clock) does not allow comes with its problem.
    """
    for batch in _batches(columns, settings.value_cap):
        for column, rows in zip(batch, await _read(engine, batch, settings, deadline), strict=True):
            if isinstance(rows, str):
                yield Distinct(column, None, rows)
            elif len(rows) > settings.value_cap:
                yield Distinct(column, None)
            else:
                yield Distinct(column, tuple(rows))


async def _read(
    engine: Engine, batch: Sequence[TextColumn], settings: RecallSettings, deadline: float
) -> list[list[str] | str]:
    """What fails together is asked again one by one, so that a bad column costs only itself."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return ["no time was left to index it"] * len(batch)
    statements = [_statement(column, settings) for column in batch]
    try:
        return [[str(value) for (value,) in rows] for rows in await engine.measure(statements, seconds)]
    except QueryError as error:
        if len(batch) == 1:
            return [error.message]
    return [(await _read(engine, [column], settings, deadline))[0] for column in batch]


def _statement(column: TextColumn, settings: RecallSettings) -> str:
    name = quote(column.name)
    return (
        f"SELECT v FROM (SELECT DISTINCT {name} AS v FROM {quote(column.table)} "
        f"WHERE {name} <> '' AND length({name}) <= {settings.value_chars} LIMIT {settings.value_cap + 1}) ORDER BY v"
    )


def _batches(columns: Sequence[TextColumn], cap: int) -> Iterator[list[TextColumn]]:
    batch: list[TextColumn] = []
    total = 0
    for column in columns:
        most = min(column.rows, cap)
        if batch and (total + most > _BATCH_VALUES or len(batch) == _BATCH_COLUMNS):
            yield batch
            batch, total = [], 0
        batch.append(column)
        total += most
    if batch:
        yield batch
