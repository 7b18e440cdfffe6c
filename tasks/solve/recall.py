"""terms + index → hits: columns, metrics and values that the question may mean, each with its reason."""

from __future__ import annotations

import asyncio
from functools import partial

from tasks.core import notice
from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Hit, Recalled, SearchIndex, Terms
from tasks.core.models.metadata import Metadata
from tasks.core.sections import QuerySettings, RecallSettings, StoresSettings
from tasks.core.stores.protocols import TextIndex
from tasks.core.stores.wanted import text_index
from tasks.solve.recalling.described import described
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
    places: StoresSettings,
) -> Recalled:
    """The searches side by side; what one of them could not do is a problem, and the others stand."""
    text = text_index(stores.current().local(index.file), index.file.sha256, index.entries, places)
    metadata, away = await asyncio.to_thread(described, metadata, places)
    (columns, values), metrics, near = await asyncio.gather(
        asyncio.to_thread(text.run, partial(_columns_and_values, terms, metadata, settings)),
        asyncio.to_thread(text.run, partial(_metrics, terms, metadata, settings)),
        near_names(index, terms, metadata, settings, places),
    )
    lacking = [problem for problem in (away, text.problem, near.problem) if problem]
    for problem in lacking:
        notice.say(problem)
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
        problems=(*index.problems, *lacking, *problems),
        unsettled="stopped" if lacking else "",
    )


def _columns_and_values(
    terms: Terms, metadata: Metadata, settings: RecallSettings, lookup: TextIndex
) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """Values first: a table that holds one which the question names is likely meant."""
    values = find_values(lookup, terms, settings)
    holding = [hit.id for hit in values if hit.score >= WHOLE]
    return find_columns(lookup, terms, metadata, holding, settings), values


def _metrics(terms: Terms, metadata: Metadata, settings: RecallSettings, lookup: TextIndex) -> tuple[Hit, ...]:
    return find_metrics(lookup, terms, metadata, settings)
