"""Workbooks that openpyxl writes, or bytes that no program would → tables with the expected values."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from intake_cases import NULL, Built, build, notes
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Built]:
    """Write a workbook and take it in; what is given fills its sheets."""

    def do(
        fill: Callable[[Workbook], Any], name: str = "book.xlsx", edit: Callable[[bytes], bytes] | None = None
    ) -> Built:
        folder = tmp_path / "folder"
        folder.mkdir(exist_ok=True)
        book = Workbook()
        fill(book)
        content = io.BytesIO()
        book.save(content)
        data = content.getvalue()
        (folder / name).write_bytes(edit(data) if edit else data)
        return build(folder, tmp_path / "store")

    return do


def rows_of(*rows: list[Any], formats: dict[str, str] | None = None) -> Callable[[Workbook], None]:
    """One sheet with these rows; number formats by cell."""

    def fill(book: Workbook) -> None:
        sheet = book.active
        for row in rows:
            sheet.append(row)
        for cell, code in (formats or {}).items():
            sheet[cell].number_format = code

    return fill


def swap(path: str, old: str, new: str) -> Callable[[bytes], bytes]:
    """Change the text of one file in the archive."""

    def edit(data: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                text = source.read(name)
                if name == path:
                    assert old.encode() in text
                    text = text.replace(old.encode(), new.encode())
                target.writestr(name, text)
        return made.getvalue()

    return edit


def only(built: Built) -> tuple[list[list[str]], list[list[Any]], str]:
    """Columns, rows and notes of the one table."""
    (table,) = built.catalogue.tables
    rows = built.rows(table.name)
    assert table.rows == len(rows)
    return [[column.name, column.type] for column in table.columns], rows, notes(table)


SHEET = "xl/worksheets/sheet1.xml"
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
        ["1 formulas without a stored value"],
    ),
    "title rows": (
        [["Sales 2020"], ["in thousands"], [], ["item", "n", "p"], ["x", 1, 2], ["y", 3, 4]],
        {},
        [["item", "VARCHAR"], ["n", "BIGINT"], ["p", "BIGINT"]],
        [["x", 1, 2], ["y", 3, 4]],
        ["above the header: 'Sales 2020 / in thousands'"],
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
        ["columns of the same name", "1 columns without a name"],
    ),
    "empty first column and blank rows": (
        [[], [None, "a", "b"], [None, 1, 2], [], [None, 3, 4]],
        {},
        [["a", "BIGINT"], ["b", "BIGINT"]],
        [[1, 2], [3, 4]],
        ["1 blank rows skipped"],
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


def encrypted() -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000) + "EncryptedPackage".encode("utf-16-le") + bytes(1000)


def archive(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in files.items():
            target.writestr(name.replace("__", "/") + ".xml", text)
    return made.getvalue()


def cut_off(data: bytes) -> bytes:
    return data[: len(data) // 2]


def scratched(data: bytes) -> bytes:
    at = data.index(b"sheet1.xml") + 60
    return data[:at] + b"\0" * 40 + data[at + 40 :]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (encrypted(), "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "damaged"),
        (b"PK\x03\x04 no archive", "damaged"),
        (archive(word__document="<x/>"), "a Word document, no Excel workbook"),
        (archive(xl__workbook="<workbook><sheets>"), "damaged"),
        (archive(xl__workbook="<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"), "document type"),
        (b"%PDF-1.4", "a PDF, no Excel workbook"),
        (b"<html><table><tr><td>1</td></tr></table></html>", "an HTML page"),
        (b"<?xml version='1.0'?><?mso-application progid='Excel.Sheet'?><Workbook/>", "XML, no workbook"),
    ],
)
def test_what_is_no_workbook_is_unreadable(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.xlsx").write_bytes(content)
    file = build(tmp_path / "folder", tmp_path / "store").file("a.xlsx")
    assert file.outcome == "unreadable"
    assert reason in file.reason


@pytest.mark.parametrize("edit", [cut_off, scratched, swap(SHEET, "</sheetData>", "")])
def test_a_damaged_workbook_is_unreadable(read: Callable[..., Built], edit: Callable[[bytes], bytes]) -> None:
    built = read(rows_of(["a"], [1]), edit=edit)
    assert built.file("book.xlsx").outcome == "unreadable"
    assert "damaged" in built.file("book.xlsx").reason
    assert built.catalogue.tables == ()


def test_an_archive_that_unpacks_to_gigabytes_is_not_opened(read: Callable[..., Built]) -> None:
    def edit(data: bytes) -> bytes:
        made = io.BytesIO(data)
        with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as target, target.open("xl/media/x", "w") as file:
            for _ in range(100):
                file.write(bytes(1 << 20))
        return made.getvalue()

    built = read(rows_of(["a"], [1]), edit=edit)
    assert built.file("book.xlsx").outcome == "unreadable"
    assert "it would unpack from" in built.file("book.xlsx").reason


def test_a_workbook_with_another_suffix_is_read(read: Callable[..., Built]) -> None:
    built = read(rows_of(["a"], [1]), name="really.csv")
    assert built.rows("really") == [[1]]
    assert "whatever its suffix says" in built.file("really.csv").reason


def test_text_called_xls_is_read_as_text(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.xls").write_bytes("名\tn\r\n甲\t1\r\n".encode("utf-16"))
    (folder / "b.xls").write_text("a;b\n1;2\n")
    built = build(folder, tmp_path / "store")
    assert [built.rows("a"), built.rows("b")] == [[["甲", 1]], [[1, 2]]]


def test_the_values_are_those_that_other_readers_find(read: Callable[..., Built], tmp_path: Path) -> None:
    """On a plain sheet python-calamine and openpyxl must agree with us, cell by cell."""
    import openpyxl
    import python_calamine

    wanted = [["id", "p", "s", "d"], *[[i, i / 8, f"文 {i}", DT(2020, 1, 1, i % 24)] for i in range(300)]]
    built = read(rows_of(*wanted))
    path = tmp_path / "folder" / "book.xlsx"
    theirs = python_calamine.CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    others = [list(row) for row in openpyxl.load_workbook(path).active.values]
    ours = [[a, b, c, DT.fromisoformat(d)] for a, b, c, d in built.rows("book")]
    assert ours == others[1:]
    assert [row[:3] for row in ours] == [row[:3] for row in theirs[1:]]


def test_an_open_document_sheet(tmp_path: Path) -> None:
    """Read by python-calamine: types of values, no formats."""
    cell = '<table:table-cell office:value-type="{}" {}><text:p>{}</text:p></table:table-cell>'
    texts = "".join(cell.format("string", "", each) for each in ("name", "n", "d"))
    values = cell.format("string", "", "甲") + cell.format("float", 'office:value="7"', "7")
    values += cell.format("date", 'office:date-value="2020-02-29"', "29.2.20")
    rows = f"<table:table-row>{texts}</table:table-row><table:table-row>{values}</table:table-row>"
    spaces = " ".join(
        f'xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"' for each in ("office", "table", "text")
    )
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body>'
    (tmp_path / "folder").mkdir()
    with zipfile.ZipFile(tmp_path / "folder" / "o.ods", "w") as target:
        target.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        target.writestr("META-INF/manifest.xml", "<manifest/>")
        target.writestr("content.xml", f"<office:document-content {spaces}>{body}</office:document-content>")
    found, read_rows, _ = only(build(tmp_path / "folder", tmp_path / "store"))
    assert (found, read_rows) == ([["name", "VARCHAR"], ["n", "BIGINT"], ["d", "DATE"]], [["甲", 7, "2020-02-29"]])
