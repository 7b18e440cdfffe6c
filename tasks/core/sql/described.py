"""The catalogue's description → four tables beside the others, as `metadata.column_info` and so on; for the SQL child only.

They are made when a query first names one of them: of thousands of tables the description takes a moment to read. They
live in memory, in a database of their own, so no name of theirs meets one of a user's.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tasks.core.sql.names import quote

if TYPE_CHECKING:
    import duckdb

SCHEMA = "metadata"
"""Name that queries use before the dot."""
LISTS = ("alias", "examples", "filters", "relevant_columns")
NUMBERS = {"rows": "BIGINT", "line": "BIGINT", "match_rate": "DOUBLE"}
TABLES = {
    "table_info": ("name", "role", "description", "alias", "rows", "origin", "basis"),
    "column_info": (
        "id", "table_name", "name", "type", "role", "examples", "description", "alias", "unit", "refers_to", "match_rate", "basis",
    ),
    "metric_info": (
        "id", "name", "description", "formula", "filters", "unit", "grain", "alias", "relevant_columns", "line", "basis",
    ),
    "column_metric": ("column_id", "metric_id"),
}  # fmt: skip
"""Columns of each; keys of the objects in its JSON."""


def attach(connection: duckdb.DuckDBPyConnection) -> None:
    """Make room for them, before the configuration is locked."""
    connection.execute(f"ATTACH ':memory:' AS {SCHEMA} (READ_WRITE)")


def named(sql: str) -> dict[str, tuple[str, ...]]:
    """Those that a query may be about, as it would name them, with their columns."""
    lowered = sql.lower()
    return {f"{SCHEMA}.{table}": names for table, names in TABLES.items() if SCHEMA in lowered and table in lowered}


def fill(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make the tables of the JSON file, unless they are there."""
    if connection.execute(f"select count(*) from duckdb_tables() where database_name = '{SCHEMA}'").fetchall()[0][0]:
        return
    text = path.read_text("utf-8")
    for table, names in TABLES.items():
        form = ", ".join(f'"{name}": "{_type(name)}"' for name in names)
        columns = ", ".join(f"row.{quote(name)} AS {quote(name)}" for name in names)
        connection.execute(
            f"CREATE TABLE {SCHEMA}.main.{table} AS SELECT {columns} FROM "
            f"(SELECT unnest(from_json(json_extract($1, '$.{table}'), '[{{{form}}}]')) AS row)",
            [text],
        )


def _type(name: str) -> str:
    return "VARCHAR[]" if name in LISTS else NUMBERS.get(name, "VARCHAR")
