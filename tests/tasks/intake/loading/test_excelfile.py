"""Workbooks that openpyxl writes, or bytes that no program would → tables with the expected values."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from intake_cases import NULL, Built, notes
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from workbooks import SHEET, only, rows_of, swap

D, DT, T = datetime.date, datetime.datetime, datetime.time
CASES: dict[str, tuple[list[list[Any]], dict[str, str], list[list[str]], list[list[Any]], list[str]]] = {
    "numbers and texts": (
        [["id", "price", "name"], [1, 1.5, "a"], [2, 2, "乙"], [3.0, None, "x"]],
        {},
        [["id", "BIGINT"], ["price", "DOUBLE"], ["name", "VARCHAR"]],
        [[1, 1.5, "a"], [2, 2.0, "乙"], [3, NULL, "x"]],
        [],
    ),
    "codes keep the zeros of their format": (
        [["code", "n"], [1, 7], [600519, 8], [None, 9]],
        {"A2": "000000", "A3": "000000"},
        [["code", "VARCHAR"], ["n", "BIGINT"]],
        [["000001", 7], ["600519", 8], [NULL, 9]],
        ["2 numbers shown with leading zeros by their format"],
    ),
    "codes with signs between": (
        [["phone"], [101234567]],
        {"A2": "000-0000-0000"},
        [["phone", "VARCHAR"]],
        [["001-0123-4567"]],
        ["leading zeros"],
    ),
    "codes that are text": (
        [["code"], ["000001"], ["600519"]],
        {},
        [["code", "VARCHAR"]],
        [["000001"], ["600519"]],
        [],
    ),
    "dates and moments": (
        [
            ["d", "m", "t"],
            [D(2020, 2, 29), DT(2020, 1, 1, 8, 30), T(9, 5)],
            [D(1900, 1, 1), DT(2021, 5, 6), T(23, 59, 59)],
        ],
        {},
        [["d", "DATE"], ["m", "TIMESTAMP"], ["t", "VARCHAR"]],
        [["2020-02-29", "2020-01-01 08:30:00", "09:05:00"], ["1900-01-01", "2021-05-06 00:00:00", "23:59:59"]],
        ["times of the day or durations"],
    ),
    "chinese date format": (
        [["日期"], [43831]],
        {"A2": '[$-804]yyyy"年"m"月"d"日"'},
        [["日期", "DATE"]],
        [["2020-01-01"]],
        [],
    ),
    "durations": ([["d"], [1.25]], {"A2": "[h]:mm:ss"}, [["d", "VARCHAR"]], [["30:00:00"]], ["durations"]),
    "percent stays a number": (
        [["rate"], [0.125], [0.5]],
        {"A2": "0.0%", "A3": "0.0%"},
        [["rate", "DOUBLE"]],
        [[0.125], [0.5]],
        ["2 numbers shown as percent (0.0%)"],
    ),
    "money says so": (
        [["fee"], [1234.5]],
        {"A2": '#,##0.00 "€"'},
        [["fee", "DOUBLE"]],
        [[1234.5]],
        ['shown as money (#,##0.00 "€")'],
    ),
    "error cells are NULL": (
        [["a", "b"], [1, 2], ["#N/A", 3], ["#DIV/0!", 4]],
        {},
        [["a", "BIGINT"], ["b", "BIGINT"]],
        [[1, 2], [NULL, 3], [NULL, 4]],
        ["error cells read as NULL: 1 #N/A, 1 #DIV/0!"],
    ),
    "formula without a value": (
        [["a", "b"], [1, "=A2*2"]],
        {},
        [["a", "BIGINT"], ["b", "VARCHAR"]],
        [[1, NULL]],
        ["1 formula without a stored value"],
    ),
    "title rows": (
        [["Sales 2020"], ["in thousands"], [], ["item", "n", "p"], ["x", 1, 2], ["y", 3, 4]],
        {},
        [["item", "VARCHAR"], ["n", "BIGINT"], ["p", "BIGINT"]],
        [["x", 1, 2], ["y", 3, 4]],
        ["above the header: 'Sales 2020 / in thousands'"],
    ),
    "units below the header": (
        [["Sales"], ["item", "n", "p"], [None, "pieces", "EUR"], ["x", 1, 2.5], ["y", 3, 4.5]],
        {},
        [["item", "VARCHAR"], ["n", "VARCHAR"], ["p", "VARCHAR"]],
        [[NULL, "pieces", "EUR"], ["x", "1", "2.5"], ["y", "3", "4.5"]],
        [
            "row 3 looks like a second row of names or units ('pieces', 'EUR'); it was kept as a row of data, so that these "
            "columns are text: n, p"
        ],
    ),
    "years as header": (
        [["name", 2019, 2020], ["x", 1, 2]],
        {},
        [["name", "VARCHAR"], ["2019", "BIGINT"], ["2020", "BIGINT"]],
        [["x", 1, 2]],
        [],
    ),
    "dates as header": (
        [["name", D(2020, 1, 31), D(2020, 2, 29)], ["x", 1, 2]],
        {},
        [["name", "VARCHAR"], ["2020-01-31", "BIGINT"], ["2020-02-29", "BIGINT"]],
        [["x", 1, 2]],
        [],
    ),
    "no header": (
        [[1, "a", 2.5], [2, "b", 3]],
        {},
        [["column1", "BIGINT"], ["column2", "VARCHAR"], ["column3", "DOUBLE"]],
        [[1, "a", 2.5], [2, "b", 3.0]],
        ["looks like values"],
    ),
    "duplicate, empty and case-colliding names": (
        [["a", "a", "A", None, "b"], [1, 2, 3, 4, 5]],
        {},
        [["a", "BIGINT"], ["a_2", "BIGINT"], ["A_3", "BIGINT"], ["column4", "BIGINT"], ["b", "BIGINT"]],
        [[1, 2, 3, 4, 5]],
        ["columns of the same name", "1 column without a name"],
    ),
    "empty first column and blank rows": (
        [[], [None, "a", "b"], [None, 1, 2], [], [None, 3, 4]],
        {},
        [["a", "BIGINT"], ["b", "BIGINT"]],
        [[1, 2], [3, 4]],
        ["1 blank row skipped"],
    ),
    "header only": ([["a", "b"]], {}, [["a", "VARCHAR"], ["b", "VARCHAR"]], [], []),
    "marks beside numbers": (
        [["n"], [1], ["-"], [3]],
        {},
        [["n", "BIGINT"]],
        [[1], [NULL], [3]],
        ["1 marks such as '-'", "read as NULL"],
    ),
    "several types": (
        [["v"], [1], ["abc"], [True], [2.5]],
        {},
        [["v", "VARCHAR"]],
        [["1"], ["abc"], ["true"], ["2.5"]],
        ["values of several types (1 boolean, 1 decimal, 1 integer, 1 text)"],
    ),
    "numbers held as text": ([["n"], ["1"], ["2"]], {}, [["n", "VARCHAR"]], [["1"], ["2"]], ["holds as text"]),
    "booleans": ([["b"], [True], [False]], {}, [["b", "BOOLEAN"]], [[True], [False]], []),
    "line ends and tabs in a text": ([["t"], ["a\nb\tc"]], {}, [["t", "VARCHAR"]], [["a\nb\tc"]], []),
    "a type that changes late": (
        [["n"], *[[i] for i in range(500)], [1.5]],
        {},
        [["n", "DOUBLE"]],
        [*[[float(i)] for i in range(500)], [1.5]],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sheet_becomes_the_expected_table(name: str, read: Callable[..., Built]) -> None:
    rows, formats, columns, expected, said = CASES[name]
    found, values, told = only(read(rows_of(*rows, formats=formats)))
    assert found == columns, told
    assert values == expected, told
    assert all(each in told for each in said), told
    assert bool(said) == bool(told.strip()), told


def test_one_table_a_sheet_named_as_the_sheet(read: Callable[..., Built]) -> None:
    def fill(book: Workbook) -> None:
        book.active.title = "订单"
        book.active.append(["a"])
        book.active.append([1])
        hidden = book.create_sheet("secret")
        hidden.sheet_state = "veryHidden"
        hidden.append(["b"])
        hidden.append([2])
        book.create_sheet("nothing")
        book.create_chartsheet("Chart1")

    built = read(fill)
    assert {table.name: table.origin for table in built.catalogue.tables} == {
        "订单": "book.xlsx::订单",
        "secret": "book.xlsx::secret",
    }
    assert built.rows("secret") == [[2]]
    assert "a hidden sheet" in notes(built.catalogue.tables[1])
    assert built.file("book.xlsx").reason == "sheet 'nothing' is empty; sheet 'Chart1' is a chart or a macro"


def test_a_single_sheet_is_named_as_the_file_and_clashes_get_a_prefix(
    read: Callable[..., Built], tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "BOOK.csv").write_text("a\n1\n")
    built = read(rows_of(["a"], [2]))
    assert [table.name for table in built.catalogue.tables] == ["csv__BOOK", "excel__book"]


def test_merged_cells_and_hidden_rows_are_said(read: Callable[..., Built]) -> None:
    def fill(book: Workbook) -> None:
        rows_of(["g", "n"], ["x", 1], [None, 2], ["y", 3])(book)
        book.active.merge_cells("A2:A3")
        book.active.row_dimensions[4].hidden = True

    _, rows, said = only(read(fill))
    assert rows == [["x", 1], [NULL, 2], ["y", 3]]
    assert "1 merged ranges such as A2:A3" in said
    assert "1 hidden rows are in it" in said


def test_titles_above_the_header_are_kept_aside(read: Callable[..., Built]) -> None:
    built = read(rows_of(["Report"], ["a", "b", "c"], [1, 2, 3]))
    assert built.rows("book__set_aside") == [[1, "Report", "above the header"]]


def test_the_1904_calendar(read: Callable[..., Built]) -> None:
    def fill(book: Workbook) -> None:
        book.epoch = CALENDAR_MAC_1904
        rows_of(["d"], [D(2020, 1, 1)])(book)

    assert only(read(fill))[:2] == ([["d", "DATE"]], [["2020-01-01"]])


@pytest.mark.parametrize(
    ("written", "columns", "value"),
    [
        ("<v>12345678901234567890</v>", "HUGEINT", 12345678901234567890),
        ("<v>9007199254740993</v>", "BIGINT", 9007199254740993),
        ("<v>0.10000000000000001</v>", "DOUBLE", 0.1),
        ("<v>600519.0</v>", "BIGINT", 600519),
        ("<v>1.5E-7</v>", "DOUBLE", 1.5e-7),
        ("<v>1.2345678901234568E+16</v>", "DOUBLE", 1.2345678901234568e16),
    ],
)
def test_numbers_keep_the_digits_that_the_file_has(
    read: Callable[..., Built], written: str, columns: str, value: float
) -> None:
    found, rows, _ = only(read(rows_of(["n"], [777]), edit=swap(SHEET, "<v>777</v>", written)))
    assert (found, rows) == ([["n", columns]], [[value]])


def test_cells_without_reference_and_rich_text(read: Callable[..., Built]) -> None:
    """As other programs write them: no r attributes, prefixes, inline rich text with its pronunciation."""
    made = '<c t="inlineStr"><is><r><t>东</t></r><r><t>京</t></r><rPh sb="0" eb="1"><t>トウ</t></rPh></is></c><c><v>5</v></c>'
    edit = swap(SHEET, '<c r="A2" t="n"><v>777</v></c>', made)
    found, rows, _ = only(read(rows_of(["t", "n"], [777]), edit=edit))
    assert (found, rows) == ([["t", "VARCHAR"], ["n", "BIGINT"]], [["东京", 5]])


def test_half_a_surrogate_pair_in_a_name_or_a_cell_is_no_end_of_the_sheet(read: Callable[..., Built]) -> None:
    found, rows, said = only(read(rows_of(["_xD800_n", "b"], ["x_xDFFF_", 1])))
    assert (found, rows) == ([["\ufffdn", "VARCHAR"], ["b", "BIGINT"]], [["x\ufffd", 1]])
    assert "half a surrogate pair" in said
