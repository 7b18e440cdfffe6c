"""Workbooks written for a test, and what was made of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

from intake_cases import Built, notes
from openpyxl import Workbook


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
