"""JSON records → flat text rows of a draft, with the types of each column counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tasks.core.files.text import whole
from tasks.core.models.catalogue import Column
from tasks.core.sql.build import Builder, Target
from tasks.core.sql.names import unique_names
from tasks.intake.loading.columns import SHAPE, cut, decide
from tasks.intake.loading.stream import Float, Int

_BATCH_CELLS = 200_000
_DEPTH = 5
"""Nested objects become `a.b` columns down to this depth, JSON text below it."""
_WIDE = 100
"""An object with more keys is a map, not a record: JSON text."""
_WRITTEN = (str, Int, Float)
"""Values that are texts already."""
_KINDS: dict[type, str] = {
    str: "text",
    Int: "integer",
    Float: "decimal",
    bool: "boolean",
    list: "array",
    dict: "object",
}


class Rows:
    """Collects records of one table; columns come as they are met."""

    def __init__(self, builder: Builder) -> None:
        self._draft = builder.draft(0)
        self._index: dict[str, int] = {}
        self._kinds: list[dict[type, int]] = []
        self._columns: list[list[str | None]] = []
        self._waiting = 0
        self._repaired = 0
        self._total = 0

    def add(self, record: dict[str, Any]) -> None:
        """Take one record."""
        self._put(record, "", 0, set())
        self._waiting += 1
        self._total += 1
        for column in self._columns:
            if len(column) < self._waiting:
                column.append(None)
        if self._waiting * max(1, len(self._columns)) >= _BATCH_CELLS:
            self._flush()

    def settle(self, stored: str) -> tuple[tuple[Column, ...], int, tuple[str, ...]]:
        """Write the table: its columns, rows, and notes."""
        self._flush()
        notes = (
            [f"{self._repaired:,} texts or keys with half a surrogate pair; U+FFFD stands for it"]
            if self._repaired
            else []
        )
        if not self._index:
            self._position("value")
            self._draft.widen(1)
        found = list(self._index)
        names = unique_names(found)
        changed = [f"{old!r} → {new!r}" for old, new in zip(found, names, strict=True) if old != new]
        if changed:
            notes.append(f"keys that are empty or differ only in case, renamed: {cut(', '.join(changed), 200)}")
        targets: list[Target | None] = []
        columns = []
        for name, kinds, shapes in zip(names, self._kinds, self._draft.tallies(SHAPE), strict=True):
            if not kinds and any(other.startswith(f"{name}.") for other in found):
                targets.append(None)  # an object here, null there: its own columns are NULL then
                continue
            target, said = _type(name, Counter({_KINDS[kind]: count for kind, count in kinds.items()}), shapes)
            targets.append(target)
            columns.append(Column(name=name, type=target.type, notes=said))
        return tuple(columns), self._draft.settle(stored, targets), tuple(notes)

    def _put(self, record: dict[str, Any], prefix: str, depth: int, seen: set[str]) -> None:
        index, kinds, columns = self._index, self._kinds, self._columns
        for key, value in record.items():
            name = prefix + key
            if not name.isascii():
                name = self._whole(name)
            if name in seen:
                name = next(other for i in range(2, 1000) if (other := f"{name}_{i}") not in seen)
            kind = type(value)
            if kind is dict and value and depth < _DEPTH and len(value) <= _WIDE:
                self._put(value, f"{name}.", depth + 1, seen)
                continue
            seen.add(name)
            position = index[name] if name in index else self._position(name)
            if value is None:
                continue
            counts = kinds[position]
            counts[kind] = counts.get(kind, 0) + 1
            plain = kind in _WRITTEN and value.isascii()
            columns[position].append(value if plain else self._text(value))

    def _position(self, name: str) -> int:
        position = self._index.get(name)
        if position is None:
            position = self._index[name] = len(self._index)
            self._kinds.append({})
            self._columns.append([None] * self._waiting)
        return position

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            text = value
        elif isinstance(value, bool):
            return "true" if value else "false"
        else:
            text = dump(value)
        return self._whole(text)

    def _whole(self, text: str) -> str:
        made = whole(text)
        self._repaired += made != text
        return made

    def _flush(self) -> None:
        if self._waiting:
            if not self._columns:
                self._position("value")
            self._draft.add(self._columns)
            for column in self._columns:
                column.clear()
            self._waiting = 0


def dump(value: Any) -> str:
    """A nested value as JSON text, its numbers as written."""
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {dump(item)}" for key, item in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(dump(item) for item in value) + "]"
    if isinstance(value, Int | Float):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _type(name: str, kinds: Counter[str], shapes: dict[str, Any]) -> tuple[Target, tuple[str, ...]]:
    """The column's type from the types of its values; numbers by the same rules as in CSV."""
    present = set(kinds)
    if not present or present == {"text"}:
        return decide(name, shapes, infer=False)
    if present == {"boolean"}:
        return Target(name, "BOOLEAN"), ()
    if present <= {"integer", "decimal"}:
        kind, notes = number_type(present, shapes)
        return Target(name, kind), notes
    if present <= {"array", "object"}:
        return Target(name), ("arrays or objects, as JSON text",)
    said = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    return Target(name), (f"values of several types ({said}); all as text",)


def number_type(present: set[str], shapes: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Type of a column of `integer` and `decimal` values that keeps their digits, and what to say."""
    if present == {"integer"}:
        if "huge" in shapes:
            return "VARCHAR", ("integers of more than 38 digits; text",)
        return ("HUGEINT" if "big" in shapes else "BIGINT"), ()
    digits = max((shapes[shape].digits for shape in ("int", "big", "huge") if shape in shapes), default=0)
    if digits > 15:
        return "VARCHAR", ("whole numbers too long for DOUBLE beside decimals; text",)
    if not set(shapes) <= {"int", "big", "float", "exponent"}:
        return "VARCHAR", ("numbers beyond the range of DOUBLE; text",)
    long = max((tally.digits for tally in shapes.values()), default=0) > 17
    return "DOUBLE", (("some numbers have more digits than DOUBLE keeps (17)",) if long else ())
