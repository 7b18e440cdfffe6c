"""answer → an Excel file beside its table, for those who asked for one: values as they are, nothing that Excel would compute."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from tasks.core.files import store as stores
from tasks.core.files.caller import write_all
from tasks.core.models.answer import Answer
from tasks.core.models.evidence import Delivery
from tasks.stage import stage

_ROWS, _COLUMNS, _CHARS = 1_048_575, 16_384, 32_767
"""What a sheet takes below its header, and a cell."""
_DIGITS = 15
"""Excel keeps no more digits of a number; longer ones stay text."""
_FIRST_DAY = date(1900, 3, 1)
"""Excel's days before it are off by one."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@stage(fresh=True)
async def add_workbook(answer: Answer, delivery: Delivery, name: str) -> Delivery:
    """Write the file `name` into the folder of the delivery; gives the delivery with it, and a warning for what a sheet does not hold.

    An answer without a table has none, and one of an earlier run goes. Raises InputError when the folder takes nothing.
    """
    if not answer.table:
        write_all(delivery.folder, {}, "the workbook", without=name)
        return delivery
    rows = list(csv.reader(io.StringIO(stores.current().get(answer.table.file).decode(), newline="")))
    data, cut = await asyncio.to_thread(_workbook, answer, rows)
    write_all(delivery.folder, {name: data}, "the workbook")
    said = (f"{name} does not hold {cut}; {answer.table.file.name} holds all",) if cut else ()
    files = tuple(sorted((*delivery.files, name)))
    return delivery.model_copy(update={"files": files, "warnings": (*delivery.warnings, *said)})


def _workbook(answer: Answer, rows: list[list[str]]) -> tuple[bytes, str]:
    """The file, and what it had no room for."""
    from openpyxl import Workbook

    assert answer.table
    types = [*answer.table.types, *[""] * len(answer.table.columns)]
    book, cuts = Workbook(write_only=True), _Cuts()
    sheet = book.create_sheet("answer")
    sheet.freeze_panes = "A2"
    sheet.append([_cell(sheet, name, "", cuts) for name in answer.table.columns[:_COLUMNS]])
    for row in rows[1 : _ROWS + 1]:
        sheet.append([_cell(sheet, text, kind, cuts) for text, kind in zip(row[:_COLUMNS], types, strict=False)])
    about = book.create_sheet("about")
    asked = answer.question
    for pair in (("question", asked.text), ("as of", asked.as_of.isoformat()), ("status", answer.status), ("reason", answer.reason)):  # fmt: skip
        about.append([_cell(about, text, "", cuts) for text in pair])
    written = io.BytesIO()
    book.save(written)
    return written.getvalue(), cuts.told(len(rows) - 1, len(answer.table.columns))


class _Cuts:
    """Texts that were cut."""

    texts = 0

    def told(self, rows: int, columns: int) -> str:
        return ", ".join(self._parts(rows, columns))

    def _parts(self, rows: int, columns: int) -> Iterator[str]:
        if rows > _ROWS:
            yield f"the last {rows - _ROWS:,} rows"
        if columns > _COLUMNS:
            yield f"the last {columns - _COLUMNS:,} columns"
        if self.texts:
            yield f"the end of {self.texts:,} texts above {_CHARS:,} characters"


def _cell(sheet: Any, text: str, kind: str, cuts: _Cuts) -> Any:
    """A cell of the value; text stays text, also where it begins like a formula."""
    from openpyxl.cell import WriteOnlyCell

    value = _value(text, kind)
    if not isinstance(value, str):
        return WriteOnlyCell(sheet, value)
    cuts.texts += len(value) > _CHARS
    cell = WriteOnlyCell(sheet, _CONTROL.sub("\ufffd", value)[:_CHARS])
    cell.data_type = "s"
    return cell


def _value(text: str, kind: str) -> str | int | float | bool | date | None:
    """The value of a CSV field of a DuckDB type, as Excel keeps it whole; else its text."""
    if not text:
        return None
    kind = kind.upper()
    if kind == "BOOLEAN":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind.endswith(("INT", "INTEGER")) or kind.startswith(("DECIMAL", "DOUBLE", "FLOAT", "REAL")):
        return _number(text)
    if kind in ("DATE", "TIMESTAMP"):
        return _day(text, kind)
    return text


def _number(text: str) -> str | int | float:
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return text
    digits = exact.as_tuple().digits
    if not exact.is_finite():
        return text
    if exact == exact.to_integral_value() and abs(exact) < 10**_DIGITS:
        return int(exact)
    return float(exact) if len(digits) <= _DIGITS or (Decimal(repr(float(exact))) == exact and "." in text) else text


def _day(text: str, kind: str) -> str | date:
    try:
        day = date.fromisoformat(text) if kind == "DATE" else datetime.fromisoformat(text)
    except ValueError:
        return text
    return day if (day.date() if isinstance(day, datetime) else day) >= _FIRST_DAY else text
