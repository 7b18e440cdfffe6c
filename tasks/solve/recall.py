"""terms + index → hits: columns, metrics and values that the question may mean, each with its reason."""

from __future__ import annotations

import asyncio

from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Recalled, SearchIndex, Terms
from tasks.core.models.metadata import Metadata
from tasks.core.sections import QuerySettings, RecallSettings
from tasks.solve.recalling.names import find_columns, find_metrics
from tasks.solve.recalling.values import find_values
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
    """The three searches side by side; what one of them could not do is a problem, and the others stand."""
    path = stores.current().local(index.file)
    columns, metrics, values = await asyncio.gather(
        asyncio.to_thread(find_columns, path, terms, metadata, settings),
        asyncio.to_thread(find_metrics, path, terms, metadata, settings),
        asyncio.to_thread(find_values, path, terms, settings),
    )
    return Recalled(terms=terms, columns=columns, metrics=metrics, values=values, problems=index.problems)
