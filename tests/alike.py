"""Rows as two readers give them → whether they say the same. In doubt they do: only a lost or changed value is a difference.

`1` and `1.0`, a date and its midnight, an empty text or a mark as `NA` and no value, `TRUE` and true are the same; `000001`
and 1 are not. Rows and last columns without any value do not count.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

NULL = "<null>"
Rows = Sequence[Sequence[Any]]


_MARKS = {"na", "n/a", "#n/a", "-", "--", "null", "none", "nan", "\\n", "."}
_SEPARATORS = re.compile(r"[,;|\t，\"'\s]+")


def same_table(wanted: Rows, found: Rows) -> bool:
    """As many rows and columns, and every cell the same."""
    width = max(map(len, wanted), default=0)
    wanted = [row for row in wanted if any(plain(cell) is not None for cell in row)]
    found = [_cut(row, width) for row in found if any(plain(cell) is not None for cell in row)]
    return len(wanted) == len(found) and all(
        len(row) == len(other) and all(same(cell, mine) for cell, mine in zip(row, other, strict=True))
        for row, other in zip(wanted, found, strict=True)
    )


def holds_all(wanted: Rows, found: Rows) -> bool:
    """Whether every value that is wanted stands somewhere in nested cells: another shape, nothing lost."""
    there = list(leaves(found))
    return all(any(same(value, other) for other in there) for value in leaves(wanted) if plain(value) is not None)


def holds_text(wanted: Rows, found: Rows) -> bool:
    """Whether as many rows hold every value that is wanted, though not divided into these columns: nothing lost."""
    return len(wanted) == len(found) and all(
        all(any(same(cell, part) for part in _parts(other)) for cell in row if plain(cell) is not None)
        for row, other in zip(wanted, found, strict=True)
    )


def _parts(row: Sequence[Any]) -> list[Any]:
    texts = [part for cell in row if isinstance(cell, str) for part in _SEPARATORS.split(cell)]
    return [*row, *texts]


def _cut(row: Sequence[Any], width: int) -> Sequence[Any]:
    """Without the cells beyond the width, where they hold nothing."""
    return row[:width] if all(plain(cell) is None for cell in row[width:]) else row


def leaves(value: Any) -> Iterator[Any]:
    """All values and keys inside lists and objects, and inside text that is JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{", '"'):
        try:
            value = json.loads(value)
        except ValueError:
            yield value
            return
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def same(wanted: Any, found: Any) -> bool:
    """Whether a cell that was expected and one that was found have the same meaning."""
    one, two = plain(wanted), plain(found)
    if one == two or (one is None and (two is None or str(two).strip().lower() in _MARKS)):
        return True
    if isinstance(one, Decimal) != isinstance(two, Decimal):
        text, number = (two, one) if isinstance(one, Decimal) else (one, two)
        truth = {"true": 1, "false": 0}.get(text) if isinstance(text, str) else None
        return truth == number if truth is not None else isinstance(text, str) and _is_written(text, number)
    if isinstance(one, str) and isinstance(two, str):
        return one.lower() == two.lower() if one.lower() in ("true", "false") else one == two
    return isinstance(one, list | dict) and isinstance(two, list | dict) and list(leaves(one)) == list(leaves(two))


def plain(value: Any) -> Any:
    """None, a Decimal, a text, or something nested."""
    if hasattr(value, "item"):
        value = value.item()
    if value is None or value in ("", NULL) or type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int | float | Decimal):
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if isinstance(value, bytes):
        return f"b:{value.hex()}"
    if isinstance(value, datetime.date | datetime.time):
        value = str(value)
    if isinstance(value, str):
        if value[:1] in ("[", "{"):
            try:
                return json.loads(value)
            except ValueError:
                return value
        return _moment(value)
    return value


def _moment(text: str) -> str:
    """A time that is ISO in one form, without the midnight that some readers add to a date."""
    if len(text) >= 10 and text[4:5] == text[7:8] == "-" and text[:4].isdigit():
        text = text.replace("T", " ", 1).removesuffix("+00:00").removesuffix("Z").removesuffix(" 00:00:00")
        text = text.rstrip("0") if "." in text else text
    return text


def _is_written(text: Any, number: Any) -> bool:
    """Whether a text is the number as one would write it: `7`, `1.5`, but not `007`, `+7` or `1.50`."""
    try:
        value = Decimal(text)
    except (InvalidOperation, TypeError):
        return False
    shown = {str(number), repr(float(number)), format(number.normalize(), "f")}
    return value == number and (text.strip() in shown or "e" in text.lower())
