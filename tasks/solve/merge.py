"""hits + metadata + votes → context: the tables and metrics that the question may need, with every key. No model is asked."""

from __future__ import annotations

from tasks.core.models.context import Context, Recalled, TableRelevanceResult
from tasks.core.models.metadata import Metadata
from tasks.solve.merging.gather import Gathering, metric_context
from tasks.stage import stage


@stage()
async def merge_context(recalled: Recalled, metadata: Metadata, relevance: TableRelevanceResult) -> Context:
    """Columns by id, then those that metrics need, then those of values; by table; keys of every table last.

    Tables that were voted out are left out, unless a metric needs them or they join two others; those that nobody
    judged stay when something in them was found.
    """
    told_out = set(relevance.skipped_tables)
    table_of = {column.id: column.table for column in metadata.columns}
    metrics = {metric.id: metric for metric in metadata.metrics}
    found = Gathering(metadata)
    for hit in recalled.columns:
        if table_of.get(hit.id) not in told_out:
            found.add_column(hit.id)
    chosen = []
    for hit in recalled.metrics:
        if hit.id not in metrics:
            found.unknown[hit.id] = None
            continue
        chosen.append(metric_context(metrics[hit.id]))
        for id in metrics[hit.id].columns:
            found.add_column(id)
    for hit in recalled.values:
        if table_of.get(hit.id) not in told_out:
            found.add_column(hit.id, hit.value)
    if not relevance.off:
        for name in relevance.relevant_tables:
            found.add_table(name)
    found.complete()
    return Context(tables=found.contexts(), metrics=tuple(chosen), unknown=tuple(found.unknown), keys=found.keys)
