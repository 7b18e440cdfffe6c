"""Other workbooks (.xls, .xlsb, .ods) → their sheets, row by row; their number formats are not known."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.intake.cells import Cell, moment, plain
from tasks.intake.ooxml import Sheet


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
