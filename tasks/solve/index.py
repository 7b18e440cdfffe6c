"""catalogue + metadata → search index: columns, metrics and distinct values in one file, vectors where they are configured."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import SearchIndex
from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo
from tasks.core.search.index import Texts, Writer
from tasks.core.sections import QuerySettings, RecallSettings
from tasks.core.sql.engine import Engine
from tasks.solve.indexing.distinct import Distinct, Reader, text_columns
from tasks.solve.indexing.meaning import embed_names
from tasks.stage import stage

_SHOWN = 3
"""Columns named in a problem."""


@stage()
async def index_catalogue(
    catalogue: Catalogue, metadata: Metadata, settings: RecallSettings, limits: QuerySettings
) -> SearchIndex:
    """The index of all columns and metrics, and of values within `settings.value_cap` and `settings.seconds`."""
    deadline = time.monotonic() + settings.seconds
    with stores.current().scratch("index-") as folder:
        path = Path(folder) / "index.sqlite"
        with Writer(path) as writer:
            await asyncio.to_thread(_add_names, writer, metadata)
            unindexed, problems = await _add_values(writer, catalogue, metadata, (settings, limits, deadline))
            entries = writer.entries
        file = stores.current().put_file(path)
    found = SearchIndex(file=file, entries=entries, unindexed=unindexed, problems=problems)
    if not settings.embedding:
        return found
    vectors, problem = await embed_names(metadata)
    if problem:  # not recorded: the next run shall try again
        return found.model_copy(update={"problems": (*problems, problem), "unsettled": "stopped"})
    return found.model_copy(update={"vectors": vectors})


def column_texts(column: ColumnInfo, around: str) -> Texts:
    """What is said of a column; `around` is said of its table."""
    return Texts(column.name, "\n".join(column.aliases), f"{column.description}\n{column.unit}", around)


def metric_texts(metric: MetricInfo) -> Texts:
    """What is said of a metric."""
    around = "\n".join((metric.formula, *metric.filters, metric.grain, *metric.columns))
    return Texts(metric.name, "\n".join(metric.aliases), f"{metric.description}\n{metric.unit}", around)


def _add_names(writer: Writer, metadata: Metadata) -> None:
    around = {table.name: "\n".join((table.name, *table.aliases, table.description)) for table in metadata.tables}
    for column in metadata.columns:
        writer.add("column", column.id, column_texts(column, around.get(column.table, column.table)))
    for metric in metadata.metrics:
        writer.add("metric", metric.id, metric_texts(metric))


def _write(writer: Writer, batch: list[Distinct]) -> None:
    for found in batch:
        if found.values:
            writer.add_values(found.column.id, found.values)


async def _add_values(
    writer: Writer, catalogue: Catalogue, metadata: Metadata, bounds: tuple[RecallSettings, QuerySettings, float]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of the columns whose values are not indexed, and what went wrong."""
    settings, limits, deadline = bounds
    known = {column.id for column in metadata.columns}
    columns = [column for column in text_columns(catalogue) if column.id in known]
    unindexed: list[str] = []
    failed: dict[str, str] = {}
    async with Engine.over(catalogue, limits) as engine:
        async for batch in Reader(engine, settings, deadline).read(columns):
            await asyncio.to_thread(_write, writer, batch)
            unindexed += [found.column.id for found in batch if found.values is None]
            failed |= {found.column.id: found.problem for found in batch if found.problem}
    problems: tuple[str, ...] = ()
    if failed:
        named = ", ".join(list(failed)[:_SHOWN]) + " …" * (len(failed) > _SHOWN)
        problems = (f"values of {len(failed)} columns are not indexed: {next(iter(failed.values()))} ({named})",)
    return tuple(sorted(unindexed)), problems
