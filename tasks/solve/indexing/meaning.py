"""metadata → vectors of what is said of columns and metrics, by the embedding model."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from tasks.core.errors import BudgetError, InputError, ModelError
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo
from tasks.core.models.source import ArtifactRef
from tasks.core.search.nearest import Vectors

_AT_ONCE = 1024
"""Texts whose vectors are held in memory."""
_TEXT_CHARS = 500


async def embed_names(metadata: Metadata) -> tuple[ArtifactRef | None, str]:
    """The vectors as a NumPy file, columns before metrics in the metadata's order; or why there are none."""
    tables = {table.name: table.description for table in metadata.tables}
    texts = (
        *(column_text(column, tables.get(column.table, "")) for column in metadata.columns),
        *(metric_text(metric) for metric in metadata.metrics),
    )
    if not texts:
        return None, ""
    with stores.current().scratch("vectors-") as folder:
        path = Path(folder) / "vectors.npy"
        file = Vectors(path, len(texts))
        waiting = iter(texts)
        try:
            while some := tuple(islice(waiting, _AT_ONCE)):
                file.add(await door.embed(some))
        except (BudgetError, InputError, ModelError, ValueError) as error:
            return None, f"no vectors, words alone are searched: {error}"
        file.close()
        return stores.current().put_file(path), ""


def column_text(column: ColumnInfo, about: str) -> str:
    """A column in one line of words."""
    parts = (column.name, *column.aliases, column.description, column.unit, column.table, about, *column.examples[:3])
    return "; ".join(part for part in parts if part)[:_TEXT_CHARS]


def metric_text(metric: MetricInfo) -> str:
    """A metric in one line of words."""
    parts = (metric.name, *metric.aliases, metric.description, metric.formula)
    return "; ".join(part for part in parts if part)[:_TEXT_CHARS]
