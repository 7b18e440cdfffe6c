"""cells → answer.csv: numbers as plain shortest decimals, NULL as an empty field, counted on the way."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from pydantic import JsonValue

from tasks.core.errors import SandboxError
from tasks.core.models.value import Cell
from tasks.core.sql.cells import csv_lines

_FIELD = re.compile(r'(?:^|(?<=,))("(?:[^"]++|"")*+"|[^,"]*)(?=,|$)', re.DOTALL)
_FRACTIONAL = ("DOUBLE", "FLOAT", "REAL", "DECIMAL", "NUMERIC")
_FORMULA = re.compile(r"(?:[=@\t\r＝＠]|[+\-＋－](?![\d.,]*(?:[eE][+-]?\d+)?%?$))(?=.*[\w(])", re.DOTALL)
"""What a spreadsheet may compute when it opens a CSV file; numbers with a sign, and signs alone, are not among it."""
Cells = Iterable[Sequence[str | None]]
"""Rows in the answer's form: every cell as text, NULL as None."""
_SINGLE = "value"
"""Name of the column when a program gives values without names."""


@dataclass(frozen=True)
class Tally:
    """What was counted while the rows were written."""

    rows: int
    nulls: tuple[int, ...]
    """Empty cells, by column."""
    repeated: int
    """Rows that equal an earlier one."""
    formulas: tuple[int, ...] = ()
    """Cells that begin like a formula, by column; its name counts too."""


@dataclass(frozen=True)
class Frame:
    """A program's result as a table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def write(path: Path, columns: Sequence[str], rows: Cells) -> Tally:
    """Write a CSV file: UTF-8, comma, header, `\\n`, NULL as an empty field; numbers come as text in their final form."""
    seen: set[bytes] = set()
    nulls, formulas = [0] * len(columns), [int(is_formula(name)) for name in columns]
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_lines([tuple(columns)]))
        for row in rows:
            line = csv_lines([tuple(row)])
            file.write(line)
            count += 1
            for i, cell in enumerate(row):
                if cell is None:
                    nulls[i] += 1
                elif is_formula(cell):
                    formulas[i] += 1
            seen.add(hashlib.blake2b(line.encode(), digest_size=16).digest())
    return Tally(rows=count, nulls=tuple(nulls), repeated=count - len(seen), formulas=tuple(formulas))


def is_formula(text: str) -> bool:
    """Whether a spreadsheet that opens the file may compute this cell in place of showing it."""
    return _FORMULA.match(text) is not None


def read_export(path: Path, types: Sequence[str]) -> Iterator[list[str | None]]:
    """Rows of an exported query, without header, in the answer's form; `types` are DuckDB's names.

    Python's reader cannot tell NULL from the empty text (`""`), so the engine's own form is read here.
    """
    fractional = [name.upper().startswith(_FRACTIONAL) for name in types]
    with path.open(encoding="utf-8", newline="\n") as file:
        records = _records(file)
        next(records, None)
        for record in records:
            cells = [_unquote(field) for field in _FIELD.findall(record)]
            if len(cells) == 1:
                cells = [cells[0] or None]
            yield [plain(c) if c and number else c for c, number in zip(cells, fractional, strict=True)]


def _records(lines: Iterable[str]) -> Iterator[str]:
    """Lines put together again where a quoted field runs on, without their end."""
    pending: list[str] = []
    quotes = 0
    for line in lines:
        pending.append(line)
        quotes += line.count('"')
        if quotes % 2 == 0:
            yield "".join(pending).removesuffix("\n")
            pending, quotes = [], 0


def _unquote(field: str) -> str | None:
    if field.startswith('"'):
        return field[1:-1].replace('""', '"')
    return field or None


def plain(text: str) -> str:
    """A number without exponent and trailing zeros (`3.50` → `3.5`, `1e3` → `1000`); other text as it is."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if not number.is_finite():
        return text
    digits = format(number, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return "0" if digits in ("-0", "") else digits


def text_of(cell: Cell) -> str | None:
    """A cell of a program's result in the answer's form."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return plain(repr(cell)) if isinstance(cell, float) else str(cell)


def frame_of(value: JsonValue) -> Frame:
    """The table that a program's `result` stands for.

    Rows as objects or lists, `{columns, data}`, one list a column, one object, a list of values, or one value.
    Raises SandboxError when it is none of these.
    """
    if isinstance(value, dict):
        return _from_object(value)
    if isinstance(value, list):
        return _from_list(value)
    if value is None:
        raise SandboxError("the program's `result` is empty", "assign the answer's rows to `result`")
    return Frame((_SINGLE,), ((value,),))


def _from_object(value: dict[str, JsonValue]) -> Frame:
    columns, data = value.get("columns"), value.get("data")
    if set(value) >= {"columns", "data"} and isinstance(columns, list) and isinstance(data, list):
        return _from_lists([str(name) for name in columns], data)
    parts = list(value.values())
    if parts and all(isinstance(part, list) for part in parts):
        lists = [part for part in parts if isinstance(part, list)]
        if len({len(part) for part in lists}) > 1:
            raise SandboxError("the columns of `result` differ in length", "give one list of equal length a column")
        return Frame(tuple(value), tuple(tuple(map(_cell, row)) for row in zip(*lists, strict=True)))
    return _from_list([value])


def _from_list(items: list[JsonValue]) -> Frame:
    if items and all(isinstance(item, dict) for item in items):
        objects = [item for item in items if isinstance(item, dict)]
        names = tuple(dict.fromkeys(key for item in objects for key in item))
        return Frame(names, tuple(tuple(_cell(item.get(name)) for name in names) for item in objects))
    if items and all(isinstance(item, list) for item in items):
        width = max(len(item) for item in items if isinstance(item, list))
        return _from_lists([f"column_{i + 1}" for i in range(width)], items)
    if any(isinstance(item, dict | list) for item in items):
        raise SandboxError("`result` mixes rows of different kinds", "give every row as an object with the same keys")
    return Frame((_SINGLE,), tuple((_cell(item),) for item in items))


def _from_lists(columns: list[str], data: list[JsonValue]) -> Frame:
    for row in data:
        if not isinstance(row, list) or len(row) != len(columns):
            raise SandboxError(
                f"a row of `result` does not have {len(columns)} values", "give every row the same length"
            )
    return Frame(tuple(columns), tuple(tuple(map(_cell, row)) for row in data if isinstance(row, list)))


def _cell(value: JsonValue) -> Cell:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
