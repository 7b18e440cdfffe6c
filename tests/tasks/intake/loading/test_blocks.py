"""Workbooks with several tables on one sheet → a table each where the layout decides, else one that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from intake_cases import NULL, build, notes
from openpyxl import Workbook

N = None
Wanted = list[tuple[str, list[str], list[list[Any]]]]
APART: dict[str, tuple[list[list[Any]], Wanted]] = {
    "one below the other": (
        [["item", "n"], ["x", 1], ["y", 2], [], ["city", "people"], ["Ulm", 126], ["Köln", 1084]],
        [
            ("book", ["item", "n"], [["x", 1], ["y", 2]]),
            ("book_2", ["city", "people"], [["Ulm", 126], ["Köln", 1084]]),
        ],
    ),
    "one below the other, each with a title": (
        [["Sales"], ["item", "n"], ["x", 1], [], ["Staff"], ["name", "age", "pay"], ["Ann", 30, 1.5]],
        [("book", ["item", "n"], [["x", 1]]), ("book_2", ["name", "age", "pay"], [["Ann", 30, 1.5]])],
    ),
    "a title, a blank row and the names in the second": (
        [["item", "n"], ["x", 1], [], ["Staff"], [], ["name", "age", "pay"], ["Ann", 30, 1.5]],
        [("book", ["item", "n"], [["x", 1]]), ("book_2", ["name", "age", "pay"], [["Ann", 30, 1.5]])],
    ),
    "the same names once more": (
        [["月份", "城市"], ["一月", "北京"], [], ["月份", "城市"], ["二月", "上海"]],
        [("book", ["月份", "城市"], [["一月", "北京"]]), ("book_2", ["月份", "城市"], [["二月", "上海"]])],
    ),
    "side by side, of different length": (
        [["item", "n", N, "city", "people"], ["x", 1, N, "Ulm", 126], ["y", 2], ["z", 3]],
        [
            ("book", ["item", "n"], [["x", 1], ["y", 2], ["z", 3]]),
            ("book_2", ["city", "people"], [["Ulm", 126]]),
        ],
    ),
    "side by side, of equal names": (
        [["item", "n", N, N, "item", "n"], ["x", 1, N, N, "y", 2]],
        [("book", ["item", "n"], [["x", 1]]), ("book_2", ["item", "n"], [["y", 2]])],
    ),
    "three: two side by side, one below": (
        [["a", "n", N, "b", "m"], ["x", 1, N, "y", 2], ["z", 3], [], ["c", "k"], ["w", 4]],
        [
            ("book", ["a", "n"], [["x", 1], ["z", 3]]),
            ("book_2", ["c", "k"], [["w", 4]]),
            ("book_3", ["b", "m"], [["y", 2]]),
        ],
    ),
    "keys and values above a table": (
        [["Company", "ACME"], ["Year", 2020], [], ["item", "n", "p"], ["x", 1, 2.5]],
        [("book", ["Company", "ACME"], [["Year", 2020]]), ("book_2", ["item", "n", "p"], [["x", 1, 2.5]])],
    ),
}
ONE: dict[str, tuple[list[list[Any]], list[str], list[list[Any]], str]] = {
    "texts only": (
        [["name", "city"], ["Ann", "Ulm"], [], ["product", "colour"], ["chair", "red"]],
        ["name", "city"],
        [["Ann", "Ulm"], ["product", "colour"], ["chair", "red"]],
        "after 1 blank rows stands what may be the names of another table (row 4 first)",
    ),
    "a blank column and rows of equal height": (
        [["item", "n", N, "city", "people"], ["x", 1, N, "Ulm", 126]],
        ["item", "n", "city", "people"],
        [["x", 1, "Ulm", 126]],
        "column C is empty: what stands right of it may be another table",
    ),
    "a blank row in the middle": (
        [["item", "n"], ["x", 1], [], ["y", 2]],
        ["item", "n"],
        [["x", 1], ["y", 2]],
        "",
    ),
    "a total below a blank row": (
        [["item", "n"], ["x", 1], [], ["Total", 1]],
        ["item", "n"],
        [["x", 1], ["Total", 1]],
        "",
    ),
    "a footnote below a blank row": (
        [["item", "n"], ["x", 1], [], ["Source: us"]],
        ["item", "n"],
        [["x", 1], ["Source: us", NULL]],
        "",
    ),
    "a mark in a row below a blank one": (
        [["item", "n"], ["x", 1], ["y", 2], [], ["z", "-"]],
        ["item", "n"],
        [["x", 1], ["y", 2], ["z", NULL]],
        "",
    ),
}


def lay(rows: list[list[Any]], folder: Path) -> None:
    """A workbook of one sheet."""
    book = Workbook()
    for row in rows:
        book.active.append(row)
    folder.mkdir()
    book.save(folder / "book.xlsx")


@pytest.mark.parametrize("name", APART)
def test_each_table_of_a_sheet_is_one_of_its_own(name: str, tmp_path: Path) -> None:
    rows, wanted = APART[name]
    lay(rows, tmp_path / "folder")
    built = build(tmp_path / "folder", tmp_path / "store")
    found = [(table.name, [c.name for c in table.columns], built.rows(table.name)) for table in built.catalogue.tables]
    assert sorted(found) == sorted(wanted)
    for table in built.catalogue.tables:
        assert f"one of {len(wanted)} tables on the sheet" in notes(table)
        assert "another table" not in notes(table)


@pytest.mark.parametrize("name", ONE)
def test_what_the_layout_does_not_decide_stays_one_table_and_says_so(name: str, tmp_path: Path) -> None:
    rows, columns, wanted, said = ONE[name]
    lay(rows, tmp_path / "folder")
    built = build(tmp_path / "folder", tmp_path / "store")
    (table,) = built.catalogue.tables
    assert ([column.name for column in table.columns], built.rows(table.name)) == (columns, wanted)
    assert said in notes(table)
    assert bool(said) == ("another table" in notes(table)), notes(table)


@pytest.mark.parametrize("late", [False, True])
def test_a_blank_column_that_is_filled_far_below_divides_nothing(late: bool, tmp_path: Path) -> None:
    rows: list[list[Any]] = [["a", "n", N, "b", "m"], *[["x", i, N, "y", i] for i in range(600)], ["z", 7]]
    if late:
        rows[500][2] = "note"
    lay(rows, tmp_path / "folder")
    built = build(tmp_path / "folder", tmp_path / "store")
    counts = {table.name: table.rows for table in built.catalogue.tables}
    assert counts == ({"book": 601} if late else {"book": 601, "book_2": 600})
