"""Parquet files of ours, as tables by name → the rows of a query over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.sql.names import literal, quote


def query(
    tables: Mapping[str, Sequence[Path]], sql: str, values: Sequence[Any] = ()
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Column names and rows of a query over the files of each table, put together by column name.

    `values` stand for the query's `?`. The query reaches no other file. Raises InputError when it does not run.
    """
    import duckdb

    with duckdb.connect(":memory:") as connection:
        try:
            for name, paths in tables.items():
                files = ", ".join(literal(str(path)) for path in paths)
                source = f"read_parquet([{files}], union_by_name = true)"
                connection.execute(f"CREATE TABLE {quote(name)} AS SELECT * FROM {source}")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            found = connection.execute(sql, list(values))
            return tuple(column[0] for column in found.description or ()), found.fetchall()
        except duckdb.Error as error:
            raise InputError(f"the query does not run: {error}", "the tables are " + ", ".join(tables)) from error
