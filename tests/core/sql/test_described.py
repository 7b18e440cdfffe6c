"""The description of a catalogue as four tables that queries read, and that nothing can change or be mistaken for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.core.errors import QueryError
from tasks.core.settings import load
from tasks.core.sql import described
from tasks.core.sql.engine import Engine

ROWS: dict[str, list[dict[str, Any]]] = {
    "table_info": [{"name": "订单", "role": "fact", "description": "", "alias": ["orders"], "rows": 3}],
    "column_info": [
        {"id": "订单.金额", "name": "金额", "role": "measure", "examples": ["1", "2"], "alias": [], "match_rate": None},
        {"id": "订单.客户", "name": "客户", "role": "foreign_key", "examples": [], "alias": [], "match_rate": 0.75},
    ],
    "metric_info": [],
    "column_metric": [],
}


def ask(folder: Path, *statements: str, metadata: bool = True) -> list[Any]:
    """Rows or the error of each, by one child."""
    database, file = folder / "catalogue.duckdb", folder / "metadata.json"
    if not database.exists():
        with duckdb.connect(str(database)) as connection:
            connection.execute("create table column_info (mine int); insert into column_info values (7)")
        file.write_text(json.dumps(ROWS, ensure_ascii=False), "utf-8")

    async def run() -> list[Any]:
        found: list[Any] = []
        async with Engine(database, load().query, metadata=file if metadata else None) as engine:
            for statement in statements:
                try:
                    found.append((await engine.query(statement)).rows)
                except QueryError as error:
                    found.append(str(error))
        return found

    return asyncio.run(run())


def test_c1_the_four_tables_are_queried_like_others(tmp_path: Path) -> None:
    found = ask(
        tmp_path,
        "select name, role, alias[1], rows from metadata.table_info",
        "select id, match_rate from Metadata.COLUMN_INFO where role = 'foreign_key'",
        "select count(*) from metadata.metric_info m join metadata.column_metric c on c.metric_id = m.id",
        "with a as (from metadata.column_info) select count(*), max(len(examples)) from a",
        "select mine, (select count(*) from metadata.column_info) from column_info",
        "describe metadata.column_metric",
    )
    assert found[0] == (("订单", "fact", "orders", 3),)
    assert found[1] == (("订单.客户", 0.75),)
    assert found[2] == ((0,),) and found[3] == ((2, 2),) and found[4] == ((7, 2),)
    assert [row[0] for row in found[5]] == ["column_id", "metric_id"]


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("select * from metadata.secrets", "no schema 'metadata'"),
        ("select * from metadata.information_schema.tables", "no schema"),
        ("select * from memory.metadata.column_info", "no schema"),
        ("insert into metadata.column_info select * from metadata.column_info", "not allowed"),
        ("drop table metadata.column_info", "not allowed"),
        ("with x as (delete from metadata.column_info returning *) from x", "not allowed"),
        ("select nothing from metadata.column_info", "not found"),
        ("select * from table_info", "no table 'table_info'"),
    ],
)
def test_nothing_else_is_in_that_schema_and_nothing_changes_it(tmp_path: Path, sql: str, part: str) -> None:
    refused, rows = ask(tmp_path, sql, "select count(*) from metadata.column_info")
    assert part in refused and rows == ((2,),)


def test_without_a_description_there_is_no_such_schema(tmp_path: Path) -> None:
    (refused,) = ask(tmp_path, "select * from metadata.column_info", metadata=False)
    assert "no schema 'metadata'" in refused


def test_every_table_has_the_columns_that_the_description_writes() -> None:
    from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo, TableInfo
    from tasks.solve.describing.rows import as_json

    made = Metadata(
        tables=(TableInfo(name="t", origin="t.csv", role="fact", rows=1),),
        columns=(ColumnInfo(id="t.a", table="t", name="a", type="BIGINT", role="measure"),),
        metrics=(MetricInfo(id="metric:m", name="m", columns=("t.a",)),),
    )
    written = json.loads(as_json(made))
    assert {name: tuple(rows[0]) for name, rows in written.items()} == described.TABLES
