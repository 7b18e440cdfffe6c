"""Terms + vectors of the index → columns and metrics that are near in meaning."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tasks.core.errors import BudgetError, InputError, ModelError
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.context import SearchIndex, Terms
from tasks.core.models.metadata import Metadata
from tasks.core.sections import RecallSettings, StoresSettings
from tasks.core.stores.protocols import VectorStore
from tasks.core.stores.wanted import vector_store

_SHORT = 2
"""Signs of a keyword below which its vector says little."""


@dataclass(frozen=True)
class Near:
    """Cosine and the text that is near, by id, nearest first; or why there is nothing."""

    columns: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    metrics: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    problem: str = ""


async def near_names(
    index: SearchIndex, terms: Terms, metadata: Metadata, settings: RecallSettings, places: StoresSettings
) -> Near:
    """Nothing where the index has no vectors."""
    if index.vectors is None:
        return Near()
    words = [term for term in terms.keywords if len(term) > _SHORT]
    texts = list(dict.fromkeys((terms.question, *words, *terms.columns, *terms.metrics)))
    try:
        asked = await door.embed(texts)
        store = vector_store(stores.current().local(index.vectors), index.vectors.sha256, places)
        near = await asyncio.to_thread(store.run, partial(_search, (texts, asked), metadata, settings))
        return replace(near, problem=store.problem)
    except (BudgetError, InputError, ModelError, ValueError) as error:
        return Near(problem=f"the question has no vectors, words alone were searched: {error}")


def _search(
    asking: tuple[Sequence[str], Sequence[array[float]]],
    metadata: Metadata,
    settings: RecallSettings,
    store: VectorStore,
) -> Near:
    texts, asked = asking
    columns, metrics = len(metadata.columns), len(metadata.metrics)
    found = store.nearest(asked, range(columns), settings.columns)
    also = store.nearest(asked, range(columns, columns + metrics), settings.metrics)
    return Near(
        {metadata.columns[row].id: (cosine, texts[which]) for row, cosine, which in found},
        {metadata.metrics[row - columns].id: (cosine, texts[which]) for row, cosine, which in also},
    )
