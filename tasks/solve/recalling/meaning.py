"""Terms + vectors of the index → columns and metrics that are near in meaning."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tasks.core.errors import BudgetError, InputError, ModelError
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.context import SearchIndex, Terms
from tasks.core.models.metadata import Metadata
from tasks.core.search.nearest import nearest
from tasks.core.sections import RecallSettings

_SHORT = 2
"""Signs of a keyword below which its vector says little."""


@dataclass(frozen=True)
class Near:
    """Cosine and the text that is near, by id, nearest first; or why there is nothing."""

    columns: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    metrics: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    problem: str = ""


async def near_names(index: SearchIndex, terms: Terms, metadata: Metadata, settings: RecallSettings) -> Near:
    """Nothing where the index has no vectors."""
    if index.vectors is None:
        return Near()
    words = [term for term in terms.keywords if len(term) > _SHORT]
    texts = list(dict.fromkeys((terms.question, *words, *terms.columns, *terms.metrics)))
    try:
        asked = await door.embed(texts)
        path = stores.current().local(index.vectors)
        return await asyncio.to_thread(_search, path, texts, asked, metadata, settings)
    except (BudgetError, InputError, ModelError, ValueError) as error:
        return Near(problem=f"the question has no vectors, words alone were searched: {error}")


def _search(
    path: Path, texts: Sequence[str], asked: Sequence[array[float]], metadata: Metadata, settings: RecallSettings
) -> Near:
    columns, metrics = len(metadata.columns), len(metadata.metrics)
    found = nearest(path, asked, range(columns), settings.columns)
    also = nearest(path, asked, range(columns, columns + metrics), settings.metrics)
    return Near(
        {metadata.columns[row].id: (cosine, texts[which]) for row, cosine, which in found},
        {metadata.metrics[row - columns].id: (cosine, texts[which]) for row, cosine, which in also},
    )
