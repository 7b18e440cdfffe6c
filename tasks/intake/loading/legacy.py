"""Excel file of 97 to 2003 (.xls) → its sheets, row by row, each cell with its number format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.intake.loading.cells import Cell, Format, number, read_format
from tasks.intake.loading.ooxml import Sheet

_BROKEN = (AssertionError, struct.error, IndexError, KeyError, ValueError, TypeError, OverflowError, AttributeError)
"""What the reader raises of damaged files beside its own errors."""


class NotRead(Exception):
    """This reader does not get through the file; another one may."""


class Book:
    """An open workbook. Raises InputError when it is encrypted, NotRead when it is damaged or unusual."""

    def __init__(self, path: Path) -> None:
        import xlrd

        try:
            self._book = xlrd.open_workbook(str(path), formatting_info=True, on_demand=True, logfile=_Nowhere())
            self._formats = [self._format(style) for style in self._book.xf_list]
        except xlrd.XLRDError as error:
            if "encrypted" in str(error):
                raise InputError("it is encrypted: save it without a password") from error
            raise NotRead(str(error)) from error
        except (xlrd.compdoc.CompDocError, *_BROKEN) as error:
            raise NotRead(str(error)) from error
        self._errors: dict[int, str] = xlrd.error_text_from_code
        hidden = self._book._sheet_visibility
        self.sheets = [Sheet(name, bool(hidden[at]), str(at + 1)) for at, name in enumerate(self._book.sheet_names())]

    def rows(self, sheet: Sheet) -> Iterator[tuple[int, list[Cell | None]]]:
        """Number (from 1) and cells of each row that has any."""
        at = int(sheet.path) - 1
        try:
            found = self._book.sheet_by_index(at)
        except (self._book_error(), *_BROKEN) as error:
            raise InputError(f"sheet {sheet.name!r} is damaged: {error}") from error
        sheet.merged = [_range(*each) for each in found.merged_cells]
        sheet.hidden_rows = sum(bool(info.hidden) for row, info in found.rowinfo_map.items() if row < found.nrows)
        for row in range(found.nrows):
            cells = [self._cell(cell) for cell in found.row(row)]
            if any(cells):
                yield row + 1, cells

    def close(self) -> None:
        self._book.release_resources()

    def _book_error(self) -> type[Exception]:
        import xlrd

        found: type[Exception] = xlrd.XLRDError
        return found

    def _format(self, style: Any) -> Format:
        found = self._book.format_map.get(style.format_key)
        return read_format(found.format_str if found else "General")

    def _cell(self, cell: Any) -> Cell | None:
        kind, value = cell.ctype, cell.value
        if kind == 1:
            return Cell("text", value) if value else None
        if kind in (2, 3):
            return number(repr(value), self._formats[cell.xf_index], self._book.datemode == 1)
        if kind == 4:
            return Cell("boolean", "true" if value else "false")
        return Cell("error", None, self._errors.get(value, f"error {value}")) if kind == 5 else None


class _Nowhere:
    """The reader prints what it wonders about."""

    def write(self, _: str) -> None:
        pass

    def flush(self) -> None:
        pass


def _range(first_row: int, end_row: int, first: int, end: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(first + 1)}{first_row + 1}:{get_column_letter(end)}{end_row}"
