"""Real .xls and .ods files (saved by LibreOffice 7.4), and a binary workbook → the values that are expected of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import xlsb
from intake_cases import CASES, NULL, build, notes

from tasks.intake.loading import legacy

HIDDEN = [["x"]]
TRUTH = {".xls": [True, False, NULL], ".ods": [1, 0, NULL]}
"""LibreOffice saved the truth values of its .ods as numbers."""


@pytest.mark.parametrize("suffix", [".xls", ".ods"])
def test_a_workbook_of_another_program_becomes_the_expected_tables(suffix: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(CASES / "books" / f"book{suffix}", folder)
    built = build(folder, tmp_path / "store")
    stock, hidden = built.tables(f"book{suffix}")
    yes, no, none = TRUTH[suffix]
    assert built.rows(stock.name) == [
        ["000001", 9007199254740991, 1.5, 0.125, "2020-02-29", "2020-01-01 08:30:00", "甲", yes, 3.0, NULL],
        ["600519", -3, 2.0, 0.5, "1999-12-31", "2021-05-06 00:00:00", "Ünï", no, 4.0, NULL],
        [NULL, 7, 0.1, NULL, NULL, NULL, "a\nb", none, 0.2, 1],
    ]
    said = notes(stock)
    assert "numbers shown with leading zeros by their format; text, zeros kept" in said
    assert "rate: 2 numbers shown as percent" in said
    assert "err: error cells read as NULL: 1 #DIV/0!, 1 #N/A" in said
    assert "do not tell us which cells" not in said
    assert built.rows(hidden.name) == HIDDEN
    assert notes(hidden) == "a hidden sheet"


def test_a_binary_workbook_becomes_the_expected_table(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    rows: list[list[xlsb.Value]] = [
        ["code", "n", "price", "day", "name", "ok"],
        [1.0, 7.0, 1.5, 43890.0, "甲", True],
        [600519.0, b"\x07", 0.1, 1.0, "a\nb", False],
        [None, b"\x2a", None, None, None, None],
    ]
    days = {(1, 3): "yyyy-mm-dd", (2, 3): "yyyy-mm-dd", (1, 2): "0.0%"}
    xlsb.write(folder / "plain.xlsb", rows, days)
    xlsb.write(folder / "coded.xlsb", rows, {**days, (1, 0): "000000", (2, 0): "000000"})
    built = build(folder, tmp_path / "store")
    for name, codes in (("plain", [1, 600519]), ("coded", ["000001", "600519"])):
        (table,) = built.tables(f"{name}.xlsb")
        assert built.rows(table.name) == [
            [codes[0], 7, 1.5, "2020-02-29", "甲", True],
            [codes[1], NULL, 0.1, "1900-01-01", "a\nb", False],
            [NULL, NULL, NULL, NULL, NULL, NULL],
        ]
        assert "n: error cells read as NULL: 1 #DIV/0!, 1 #N/A" in notes(table)
        assert "price: 1 numbers shown as percent (0.0%)" in notes(table)
        assert ("leading zeros by their format" in notes(table)) == (name == "coded")


def test_an_xls_that_only_the_other_reader_knows_says_what_it_may_have_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(_path: Path) -> None:
        raise legacy.NotRead

    monkeypatch.setattr(legacy, "Book", give_up)
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(CASES / "books" / "book.xls", folder)
    built = build(folder, tmp_path / "store")
    stock = built.tables("book.xls")[0]
    assert [row[0] for row in built.rows(stock.name)] == [1, 600519, NULL]
    assert "the workbook has the number format '000000'" in notes(stock)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_truncated_xls_is_unreadable_or_whole(share: float, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    data = (CASES / "books" / "book.xls").read_bytes()
    (folder / "book.xls").write_bytes(data[: int(len(data) * share)])
    built = build(folder, tmp_path / "store")
    if built.catalogue.tables:
        assert [table.rows for table in built.catalogue.tables] == [3, 1]
    else:
        assert built.file("book.xls").outcome == "unreadable"
