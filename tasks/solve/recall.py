"""terms + index → hits: columns, metrics and values that the question may mean, each with its reason."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Hit, Recalled, SearchIndex, Terms
from tasks.core.models.metadata import Metadata
from tasks.core.search.lookup import Lookup
from tasks.core.sections import QuerySettings, RecallSettings
from tasks.solve.recalling.fuse import fuse
from tasks.solve.recalling.meaning import near_names
from tasks.solve.recalling.names import find_columns, find_metrics
from tasks.solve.recalling.scan import scan_values
from tasks.solve.recalling.values import WHOLE, find_values
from tasks.stage import stage


@stage()
async def recall(
    terms: Terms,
    index: SearchIndex,
    catalogue: Catalogue,
    metadata: Metadata,
    settings: RecallSettings,
    limits: QuerySettings,
) -> Recalled:
    """The searches side by side; what one of them could not do is a problem, and the others stand."""
    path = stores.current().local(index.file)
    (columns, values), metrics, near = await asyncio.gather(
        asyncio.to_thread(_columns_and_values, path, terms, metadata, settings),
        asyncio.to_thread(_metrics, path, terms, metadata, settings),
        near_names(index, terms, metadata, settings),
    )
    if near.columns or near.metrics:
        columns = fuse(columns, near.columns, settings.columns)
        metrics = fuse(metrics, near.metrics, settings.metrics)
    likely = tuple(hit.id for hit in columns)
    more, problems = await scan_values(catalogue, terms, index.unindexed, likely, (settings, limits))
    values = tuple(sorted((*values, *more), key=lambda hit: -hit.score)[: settings.values])
    return Recalled(
        terms=terms,
        columns=columns,
        metrics=metrics,
        values=values,
        problems=(*index.problems, *(near.problem,) * bool(near.problem), *problems),
        unsettled="stopped" if near.problem else "",
    )


def _columns_and_values(
    path: Path, terms: Terms, metadata: Metadata, settings: RecallSettings
) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """Values first: a table that holds one which the question names is likely meant."""
    with Lookup(path) as lookup:
        values = find_values(lookup, terms, settings)
        holding = [hit.id for hit in values if hit.score >= WHOLE]
        return find_columns(lookup, terms, metadata, holding, settings), values


def _metrics(path: Path, terms: Terms, metadata: Metadata, settings: RecallSettings) -> tuple[Hit, ...]:
    with Lookup(path) as lookup:
        return find_metrics(lookup, terms, metadata, settings)
