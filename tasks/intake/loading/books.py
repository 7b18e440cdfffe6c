"""Other workbooks (.xlsb, .ods, unusual .xls) → their sheets, row by row."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.intake.loading import archive, shown
from tasks.intake.loading.cells import Cell, moment, number, plain, read_format
from tasks.intake.loading.ooxml import Sheet

_LEGACY_FORMAT = re.compile(rb"\x1e\x04(..)..(..)([\x00\x01])", re.DOTALL)


class Book:
    """An open workbook. Raises InputError when it is encrypted or none."""

    def __init__(self, path: Path) -> None:
        import python_calamine as calamine

        try:
            self._book = calamine.CalamineWorkbook.from_path(str(path))
        except calamine.PasswordError as error:
            raise InputError("it is encrypted: save it without a password") from error
        except (calamine.CalamineError, ValueError) as error:
            raise InputError(f"no workbook, or a damaged one: {error}") from error
        self._error = calamine.CalamineError
        self.sheets = [
            Sheet(
                item.name,
                item.visible != calamine.SheetVisibleEnum.Visible,
                item.name if item.typ == calamine.SheetTypeEnum.WorkSheet else "",
            )
            for item in self._book.sheets_metadata
        ]
        self._archive = archive.unpack(path) if zipfile.is_zipfile(path) else None
        if not self._archive:
            for sheet in self.sheets:
                sheet.zeros = zeros(path)

    def rows(self, sheet: Sheet) -> Iterator[tuple[int, list[Cell | None]]]:
        """Number (from 1) and cells of each row that has any."""
        try:
            found = self._book.get_sheet_by_name(sheet.path)
        except self._error as error:
            raise InputError(f"sheet {sheet.name!r} is damaged: {error}") from error
        told = shown.marks(self._archive, sheet.name) if self._archive else iter(())
        mark = next(told, None)
        at = 0
        for at, row in enumerate(found.to_python(skip_empty_area=False), 1):
            while mark and mark[0] < at:
                mark = next(told, None)
            cells = _cells(row, mark[1] if mark and mark[0] == at else {})
            if any(cells):
                yield at, cells
        while mark:  # rows of errors only, which the reader takes for the end
            if mark[0] > at:
                yield mark[0], _cells([], mark[1])
            mark = next(told, None)
        ranges = found.merged_cell_ranges or []
        sheet.merged = [str(each) for each in ranges]

    def close(self) -> None:
        self._book.close()
        if self._archive:
            self._archive.close()


def _cells(row: list[Any], said: dict[int, shown.Shown]) -> list[Cell | None]:
    """The cells of a row, with what is known of them beside their values."""
    cells = [_cell(value) for value in row]
    for place, mark in said.items():
        if place >= len(cells):
            if not isinstance(mark, Cell):
                continue
            cells.extend([None] * (place + 1 - len(cells)))
        cell = cells[place]
        if isinstance(mark, Cell):
            cells[place] = mark
        elif cell and cell.text and cell.kind in ("integer", "decimal"):
            cells[place] = number(cell.text, mark, False)
    return cells


def _cell(value: Any) -> Cell | None:
    if value == "" or value is None:
        return None
    if isinstance(value, bool):
        return Cell("boolean", "true" if value else "false")
    if isinstance(value, int | float):
        text = plain(repr(value))
        return Cell("integer" if text.lstrip("-").isdigit() else "decimal", text)
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return moment(value)
    return Cell("text", str(value))


def zeros(path: Path) -> str:
    """A number format of an .xls that shows zeros in front (`000000`), or empty: the cells do not tell who has it."""
    return next((code for code in _legacy(path.read_bytes()) if read_format(code).kind == "code"), "")


def _legacy(content: bytes) -> Iterator[str]:
    """Codes of the FORMAT records of an .xls: record 0x041E, its size, number, count of characters, their width."""
    for found in _LEGACY_FORMAT.finditer(content):
        size, count = int.from_bytes(found[1], "little"), int.from_bytes(found[2], "little")
        wide = found[3] == b"\x01"
        if size == 5 + count * (1 + wide):
            raw = content[found.end() : found.end() + count * (1 + wide)]
            yield raw.decode("utf-16-le" if wide else "latin-1", "replace")
