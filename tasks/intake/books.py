"""Other workbooks (.xls, .xlsb, .ods) → their sheets, row by row; of their number formats only those of dates count."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.intake.cells import Cell, moment, plain, read_format
from tasks.intake.ooxml import Sheet

_LEGACY_FORMAT = re.compile(rb"\x1e\x04(..)..(..)([\x00\x01])", re.DOTALL)
_BINARY_FORMAT = re.compile(rb"\x2c.{1,2}..(.)\x00\x00\x00", re.DOTALL)
_OPEN_FORMAT = re.compile(rb"<number:number [^>]*min-integer-digits=\"([2-9]|[1-9]\d)\"")
_STYLES = ("xl/styles.bin", "content.xml", "styles.xml")
_STYLE_BYTES = 16 << 20


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
        for sheet in self.sheets:
            sheet.zeros = zeros(path)

    def rows(self, sheet: Sheet) -> Iterator[tuple[int, list[Cell | None]]]:
        """Number (from 1) and cells of each row that has any."""
        try:
            found = self._book.get_sheet_by_name(sheet.path)
        except self._error as error:
            raise InputError(f"sheet {sheet.name!r} is damaged: {error}") from error
        for at, row in enumerate(found.to_python(skip_empty_area=False), 1):
            cells = [_cell(value) for value in row]
            if any(cells):
                yield at, cells
        ranges = found.merged_cell_ranges or []
        sheet.merged = [str(each) for each in ranges]

    def close(self) -> None:
        self._book.close()


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
    """A number format of the workbook that shows zeros in front (`000000`), or empty: the cells do not tell who has it."""
    if not zipfile.is_zipfile(path):
        return next((code for code in _legacy(path.read_bytes()) if read_format(code).kind == "code"), "")
    with zipfile.ZipFile(path) as archive:
        for name in sorted(set(_STYLES) & set(archive.namelist())):
            with archive.open(name) as file:
                content = file.read(_STYLE_BYTES)
            if name.endswith(".bin"):
                found = (
                    content[at.end() : at.end() + 2 * at[1][0]].decode("utf-16-le", "replace")
                    for at in _BINARY_FORMAT.finditer(content)
                )
                code = next((code for code in found if read_format(code).kind == "code"), "")
            else:
                digits = _OPEN_FORMAT.search(content)
                code = "0" * int(digits[1]) if digits else ""
            if code:
                return code
    return ""


def _legacy(content: bytes) -> Iterator[str]:
    """Codes of the FORMAT records of an .xls: record 0x041E, its size, number, count of characters, their width."""
    for found in _LEGACY_FORMAT.finditer(content):
        size, count = int.from_bytes(found[1], "little"), int.from_bytes(found[2], "little")
        wide = found[3] == b"\x01"
        if size == 5 + count * (1 + wide):
            raw = content[found.end() : found.end() + count * (1 + wide)]
            yield raw.decode("utf-16-le" if wide else "latin-1", "replace")
