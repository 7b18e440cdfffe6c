"""Metadata → the rows of its four tables as one JSON text, the same for the same values; and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo, TableInfo


def as_json(metadata: Metadata) -> bytes:
    """What `tasks/core/sql/described.py` makes tables of."""
    tables = {
        "table_info": [_table(table) for table in metadata.tables],
        "column_info": [_column(column) for column in metadata.columns],
        "metric_info": [_metric(metric) for metric in metadata.metrics],
        "column_metric": [
            {"column_id": column, "metric_id": metric.id} for metric in metadata.metrics for column in metric.columns
        ],
    }
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def from_rows(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Metadata:
    """The metadata that these are the rows of. Raises ValueError or KeyError when they are of none."""
    return Metadata(
        tables=tuple(TableInfo(**_renamed(row, alias="aliases")) for row in rows["table_info"]),
        columns=tuple(
            ColumnInfo(**{**_renamed(row, alias="aliases", table_name="table"), "refers_to": row["refers_to"] or ""})
            for row in rows["column_info"]
        ),
        metrics=tuple(
            MetricInfo(**_renamed(row, alias="aliases", relevant_columns="columns")) for row in rows["metric_info"]
        ),
    )


def _renamed(row: Mapping[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in row.items()}


def _table(table: TableInfo) -> dict[str, Any]:
    return {
        "name": table.name,
        "role": table.role,
        "description": table.description,
        "alias": table.aliases,
        "rows": table.rows,
        "origin": table.origin,
        "basis": table.basis,
    }


def _column(column: ColumnInfo) -> dict[str, Any]:
    return {
        "id": column.id,
        "table_name": column.table,
        "name": column.name,
        "type": column.type,
        "role": column.role,
        "examples": column.examples,
        "description": column.description,
        "alias": column.aliases,
        "unit": column.unit,
        "refers_to": column.refers_to or None,
        "match_rate": column.match_rate,
        "basis": column.basis,
    }


def _metric(metric: MetricInfo) -> dict[str, Any]:
    return {
        "id": metric.id,
        "name": metric.name,
        "description": metric.description,
        "formula": metric.formula,
        "filters": metric.filters,
        "unit": metric.unit,
        "grain": metric.grain,
        "alias": metric.aliases,
        "relevant_columns": metric.columns,
        "line": metric.line,
        "basis": metric.basis,
    }
