"""Cells of a drawn table and their lines against the truth, counted by hand."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tasks.benchmark.scoring.cells import pair_columns, read_table, same, score_cells
from tasks.benchmark.scoring.truth import TrueColumn, TrueTable

TRUTH = TrueTable.model_validate(
    {
        "key": "编号",
        "columns": {
            "编号": {"type": "text"},
            "unit_price": {"type": "number", "label": "retail price"},
            "sold on": {"type": "date"},
            "remark": {"type": "text"},
        },
        "records": [
            {"编号": "007", "unit_price": 1.5, "sold on": "2020-04-09", "remark": None},
            {"编号": "008", "unit_price": 20000, "sold on": None, "remark": "red  box"},
            {"编号": "009", "unit_price": 3, "sold on": "2021-01-01", "remark": "x"},
        ],
        "source_lines": {"007": {"unit_price": 3, "sold on": 9}, "008": {"unit_price": 4, "remark": 5}},
    }
)


def draw(path: Path, rows: list[tuple[Any, ...]], cells: list[tuple[Any, ...]]) -> Path:
    """A file as a run delivers it."""
    with sqlite3.connect(path) as db:
        db.execute('CREATE TABLE sales ("编号" TEXT, UnitPrice REAL, sold_on TEXT, colour TEXT)')
        db.executemany("INSERT INTO sales VALUES (?, ?, ?, ?)", rows)
        db.execute('CREATE TABLE _cells (record TEXT, "column" TEXT, status TEXT, line INTEGER)')
        db.executemany("INSERT INTO _cells VALUES (?, ?, ?, ?)", cells)
    return path


def test_cells_and_lines_are_counted(tmp_path: Path) -> None:
    rows = [("7", 1.5, "2020-4-9", None), ("008", 2.0, None, "blue"), ("010", 9, "2020-01-01", "x")]
    cells = [
        ("7", "UnitPrice", "verified", 3),
        ("7", "sold_on", "verified", 11),
        ("008", "UnitPrice", "verified", 5),
        ("010", "UnitPrice", "verified", 6),
    ]
    found = {
        m.metric: (m.right, m.of) for m in score_cells(read_table(draw(tmp_path / "a.sqlite", rows, cells)), TRUTH)
    }
    # Of 007 price and day are right, its id is written otherwise. Of 008 the id is right, the price wrong, the day rightly
    # empty. Nobody drew 009, and 010 is made up. No column is like the remark.
    assert found["precision"] == (3, 8)
    assert found["recall"] == (3, 10)
    assert found["accuracy"] == (4, 12)
    assert found["verified and right"] == (2, 3)
    assert found["line exact"] == (1, 3) and found["line within 1"] == (2, 3)


def test_no_table_finds_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.sqlite").write_text("no database")
    for name in ("none.sqlite", "broken.sqlite"):
        found = {m.metric: (m.right, m.of) for m in score_cells(read_table(tmp_path / name), TRUTH)}
        assert (found["precision"], found["recall"], found["accuracy"]) == ((0, 0), (0, 10), (0, 12))


def test_columns_are_paired_by_name_and_label_each_once() -> None:
    wanted = {"price": TrueColumn(label="unit price"), "price_before": TrueColumn(), "单价": TrueColumn()}
    assert pair_columns(["Unit-Price", "PRICE BEFORE", "单价", "other"], wanted) == {
        "price": "Unit-Price",
        "price_before": "PRICE BEFORE",
        "单价": "单价",
    }


@pytest.mark.parametrize(
    ("found", "value", "kind", "equal"),
    [
        ("1,234.5", 1234.5, "number", True),
        (1234.5000001, 1234.5, "number", True),
        (1234.6, 1234.5, "number", False),
        ("12 units", 12, "integer", False),
        ("2020-1-05", "2020-01-05", "date", True),
        ("2020-01-05 00:00:00", "2020-01-05", "date", True),
        ("2020-01-06", "2020-01-05", "date", False),
        (" red\nbox ", "red box", "text", True),
        ("Red box", "red box", "text", False),
        (7.0, "7", "text", True),
    ],
)
def test_cells_that_say_the_same(found: Any, value: Any, kind: str, equal: bool) -> None:
    assert same(found, value, kind) is equal
