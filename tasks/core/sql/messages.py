"""DuckDB's error + the query + the schema → one short message that says what to do next."""

from __future__ import annotations

from collections.abc import Mapping


def explain(error: str, sql: str, schema: Mapping[str, tuple[str, ...]]) -> str:
    """DuckDB's first line with what the schema knows about it."""
    return error.splitlines()[0][:300]
