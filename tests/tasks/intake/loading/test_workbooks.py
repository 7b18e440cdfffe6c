"""Files that are no workbook, damaged ones, and workbooks of other kinds."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from intake_cases import Built, build
from workbooks import SHEET, only, rows_of, swap


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

    wanted = [
        ["id", "p", "s", "d"],
        *[[i, i / 8, f"文 {i}", datetime.datetime(2020, 1, 1, i % 24)] for i in range(300)],
    ]
    built = read(rows_of(*wanted))
    path = tmp_path / "folder" / "book.xlsx"
    theirs = python_calamine.CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    others = [list(row) for row in openpyxl.load_workbook(path).active.values]
    ours = [[a, b, c, datetime.datetime.fromisoformat(d)] for a, b, c, d in built.rows("book")]
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
