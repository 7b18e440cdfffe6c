"""Real .xls and .ods files (saved by LibreOffice 7.4), and a binary workbook → the values that are expected of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import xlsb
from intake_cases import CASES, NULL, build, notes

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
        [1, 9007199254740991, 1.5, 0.125, "2020-02-29", "2020-01-01 08:30:00", "甲", yes, 3.0, NULL],
        [600519, -3, 2.0, 0.5, "1999-12-31", "2021-05-06 00:00:00", "Ünï", no, 4.0, NULL],
        [NULL, 7, 0.1, NULL, NULL, NULL, "a\nb", none, 0.2, 1],
    ]
    assert "the workbook has the number format '000000'" in notes(stock)
    assert built.rows(hidden.name) == HIDDEN
    assert notes(hidden) == "a hidden sheet"


def test_a_binary_workbook_becomes_the_expected_table(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    rows: list[list[xlsb.Value]] = [
        ["code", "n", "price", "day", "name", "ok"],
        [1.0, 7.0, 1.5, 43890.0, "甲", True],
        [600519.0, None, 0.1, 1.0, "a\nb", False],
    ]
    days = {(1, 3): "yyyy-mm-dd", (2, 3): "yyyy-mm-dd"}
    xlsb.write(folder / "plain.xlsb", rows, days)
    xlsb.write(folder / "coded.xlsb", rows, {**days, (1, 0): "000000", (2, 0): "000000"})
    built = build(folder, tmp_path / "store")
    expected = [
        [1, 7, 1.5, "2020-02-29", "甲", True],
        [600519, NULL, 0.1, "1900-01-01", "a\nb", False],
    ]
    for name, said in (("plain", ""), ("coded", "'000000'")):
        (table,) = built.tables(f"{name}.xlsb")
        assert built.rows(table.name) == expected
        assert said in notes(table)
        assert bool(said) == bool(notes(table).strip()), notes(table)
