"""The sample region_sales: its files are those of its maker, and its gold is what a second way of counting gives."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sales

Records = list[dict[str, Any]]
KINDS = 11


def read(name: str, made: sales.Made, context: Path) -> Records:
    """A table's file, by a reader that shares nothing with its maker."""
    path = context / made.path
    if path.suffix == ".json":
        return list(json.loads(path.read_text("utf-8"))["records"])
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]


@pytest.fixture(scope="module")
def data() -> dict[str, Records]:
    return {name: read(name, made, sales.SAMPLE / "context") for name, made in sales.tables().items()}


def wide(data: dict[str, Records]) -> Records:
    """Every order with the columns of all that it refers to, by plain look-ups."""
    keys = {"dim_region": "region_id", "dim_product": "product_id", "dim_customer": "customer_id",
            "dim_channel": "channel_id", "dim_date": "date_id"}  # fmt: skip
    found = []
    for order in data["fact_order"]:
        whole = dict(order)
        for table, key in keys.items():
            (one,) = [row for row in data[table] if str(row[key]) == str(order[key])]
            whole |= one
        (pay,) = [row for row in data["ref_07"] if str(row["code"]) == order["pay_code"]]
        found.append({**whole, "pay": pay["label"], "amount": float(order["order_amount"])})
    return found


def by(rows: Records, key: str) -> dict[str, Records]:
    groups = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return dict(groups)


def total(rows: Records) -> float:
    return float(round(sum(row["amount"] for row in rows), 2))


def counted(data: dict[str, Records]) -> dict[str, list[tuple[Any, ...]]]:
    every = wide(data)
    kept = [row for row in every if row["order_status"] != "已取消"]
    pieces: dict[str, int] = defaultdict(int)
    for back in data["fact_return"]:
        (order,) = [row for row in every if row["order_id"] == back["order_id"]]
        pieces[order["product_name"]] += back["return_quantity"] if back["reason"] == "破损" else 0
    window = [r for r in kept if 20261101 <= int(r["date_id"]) <= 20261130]
    late = [r for r in kept if 20261001 <= int(r["date_id"]) <= 20261231]
    best = sorted(((name, total(rows)) for name, rows in by(late, "product_name").items()), key=lambda one: -one[1])
    south = [r for r in kept if r["region_name"] == "华南"]
    ears = [r for r in kept if r["product_name"] == "无线耳机" and r["channel_name"] == "旗舰店"]
    return {
        "region_total": [(total([r for r in kept if r["region_name"] == "华北"]),)],
        "category_turnover": sorted((name, total(rows)) for name, rows in by(kept, "category").items()),
        "brand_gmv": sorted((name, total(rows)) for name, rows in by(kept, "brand").items()),
        "headphones_flagship": [(sum(int(r["order_quantity"]) for r in ears),)],
        "level_by_region": sorted((name, len(rows)) for name, rows in by(south, "member_level").items()),
        "cash_on_delivery": [(len([r for r in every if r["pay"] == "货到付款" and r["order_status"] == "已取消"]),)],
        "last_30_days": [(total(window),)],
        "order_value_by_level": sorted(
            (name, round(sum(r["amount"] for r in rows) / len(rows), 2)) for name, rows in by(kept, "member_level").items()
        ),
        "top_products": best[:5],
        "shanghai_residents": [(total([r for r in kept if r["home_city"] == "上海"]),)],
        "came_back_damaged": sorted(pieces.items(), key=lambda one: -one[1])[:3],
    }  # fmt: skip


@pytest.mark.parametrize("asked", sales.questions(), ids=lambda asked: asked.name)
def test_the_gold_of_a_question_is_what_a_second_count_gives(asked: sales.Asked, data: dict[str, Records]) -> None:
    _, rows = sales.gold(asked)
    assert rows == counted(data)[asked.name]
    with (sales.GOLD / f"{asked.name}.csv").open(encoding="utf-8", newline="") as file:
        assert [tuple(row) for row in csv.reader(file)][1:] == [tuple(map(str, row)) for row in rows]


def test_there_are_eleven_questions_of_eleven_kinds() -> None:
    asked = sales.questions()
    assert len(asked) == len({one.kind for one in asked}) == len({one.name for one in asked}) == KINDS
    listed = json.loads((sales.GOLD / "questions.json").read_text("utf-8"))
    assert [one["question"] for one in listed] == [one.text for one in asked]


def test_the_files_are_those_of_their_maker(data: dict[str, Records], tmp_path: Path) -> None:
    sales.lay(tmp_path)
    for name, made in sales.tables().items():
        assert read(name, made, tmp_path) == data[name]
        assert [list(map(str, row.values())) for row in data[name]] == [list(map(str, row)) for row in made.rows]


def test_no_answer_hangs_on_a_tie(data: dict[str, Records]) -> None:
    for asked in sales.questions():
        if "LIMIT" in asked.sql:
            _, rows = sales.gold(asked._replace(sql=asked.sql.split("LIMIT")[0]))
            assert len({row[1] for row in rows[:6]}) == len(rows[:6]) or rows[2][1] > rows[3][1], asked.name


def test_the_residents_of_shanghai_are_not_the_orders_sent_there(data: dict[str, Records]) -> None:
    asked = {one.name: one for one in sales.questions()}["shanghai_residents"]
    _, here = sales.gold(asked)
    sent = total([r for r in wide(data) if r["province"] == "上海" and r["order_status"] != "已取消"])
    assert here != [(sent,)]


def test_a_suite_holds_a_task_and_gold_for_every_question(tmp_path: Path) -> None:
    sales.suite(tmp_path)
    for asked in sales.questions():
        assert json.loads((tmp_path / asked.name / "task.json").read_text("utf-8"))["question"] == asked.text
        assert (tmp_path / asked.name / "context" / "csv" / "fact_order.csv").is_file()
        assert (tmp_path / "gold" / asked.name / "gold.csv").is_file()
