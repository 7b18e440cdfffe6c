"""What a query needs, read from its SQL; and tasks whose documents stand in as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sales
from needs import Needed, needed, tasks_of

SCHEMA = {
    "fact_order": ["order_id", "region_id", "order_amount"],
    "dim_region": ["region_id", "region_name"],
    "人员": ["编号", "Name"],
}
CASES = [
    ("SELECT order_amount FROM fact_order", ["fact_order"], ["fact_order.order_amount"]),
    (
        "SELECT sum(o.order_amount) AS gmv FROM fact_order o JOIN dim_region r ON r.region_id = o.region_id "
        "WHERE r.region_name = '华北' GROUP BY r.region_name ORDER BY gmv",
        ["dim_region", "fact_order"],
        ["dim_region.region_id", "dim_region.region_name", "fact_order.order_amount", "fact_order.region_id"],
    ),
    (
        "SELECT order_id FROM fact_order WHERE region_id IN (SELECT region_id FROM dim_region) UNION SELECT \"编号\" FROM 人员",
        ["dim_region", "fact_order", "人员"],
        ["dim_region.region_id", "fact_order.order_id", "fact_order.region_id", "人员.编号"],
    ),
    ('SELECT p."NAME" FROM "人员" p WHERE NOT EXISTS (SELECT 1 FROM Fact_Order WHERE order_id = p.编号)',
     ["fact_order", "人员"], ["fact_order.order_id", "人员.Name", "人员.编号"]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "tables", "columns"), CASES)
def test_a_query_needs_the_columns_that_it_reads(sql: str, tables: list[str], columns: list[str]) -> None:
    found = needed(sql, {table: dict.fromkeys(names, "text") for table, names in SCHEMA.items()})
    assert Needed(tuple(sorted(found.tables)), tuple(sorted(found.columns))) == (tuple(tables), tuple(columns))


def test_tasks_come_with_their_gold_and_documents_as_tables(tmp_path: Path) -> None:
    sales.suite(tmp_path)
    (tmp_path / "prose" / "context" / "doc").mkdir(parents=True)
    (tmp_path / "prose" / "context" / "doc" / "ledger.md").write_text("Entry 1: 5 pieces.", "utf-8")
    (tmp_path / "prose" / "task.json").write_text('{"question": "How many pieces?"}', "utf-8")
    (tmp_path / "gold" / "prose").mkdir()
    truth = {"reference_sql": "SELECT pieces FROM ledger",
             "docs": {"ledger": {"columns": {"id": {}, "pieces": {}}, "records": [{"id": 1, "pieces": 5}]}}}  # fmt: skip
    (tmp_path / "gold" / "prose" / "truth.json").write_text(json.dumps(truth), "utf-8")
    (tmp_path / "open" / "context").mkdir(parents=True)
    (tmp_path / "open" / "task.json").write_text('{"question": "?"}', "utf-8")
    found = {task.name: task for task in tasks_of(tmp_path, tmp_path / "gold", tmp_path / "scratch")}
    assert set(found) == {"prose", *(asked.name for asked in sales.questions())}
    drawn = found["prose"].folder / "context"
    assert (drawn / "csv" / "ledger.csv").read_text("utf-8").split() == ["id,pieces", "1,5"]
    assert not (drawn / "doc").exists()
