"""A slice → the schema of its reply; a reply, whole or cut off → its entries.

What is of no use in a reply costs itself: a bad cell its cell, a bad entry its entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, create_model

from tasks.core.llm import structured
from tasks.core.llm.request import Reply
from tasks.core.llm.structured import Invalid
from tasks.core.models.document import Slice
from tasks.core.wording import counted

_SHOWN, _CHARS = 12, 80
_MOST_LINES = 10**9


@dataclass(frozen=True)
class Cell:
    """One value."""

    column: str
    value: str
    """As written."""


@dataclass(frozen=True)
class Entry:
    """What one line says about one record."""

    id: str
    line: int = 0
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Entries:
    """What could be read of a reply."""

    records: tuple[Entry, ...]
    corrections: tuple[Entry, ...] = ()
    cut: bool = False
    """The reply ended before its end; the record of the last entry may have had more."""
    problems: tuple[str, ...] = ()
    """What was left out of it, one line each."""


class _Whole(BaseModel):
    records: list[Any]
    corrections: list[Any] | None = None


def schema(piece: Slice) -> type[BaseModel]:
    """The reply's model with the slice's columns and records as the only ones allowed: small models then invent none."""
    names = tuple(column.name for column in piece.columns if column.name != piece.key)
    column: Any = Literal[names] if names else str
    cell = create_model("Cell", c=(column, ...), v=(str, ...))
    record: Any = Literal[piece.expected] if piece.expected else str
    entry = create_model("Entry", id=(record, ...), line=(int, ...), cells=(list[cell], ...))  # type: ignore[valid-type]
    return create_model("SliceReply", records=(list[entry], ...), corrections=(list[entry], ...))  # type: ignore[valid-type]


def read(reply: Reply) -> Entries:
    """Entries of a reply; of one that was cut off those that are whole. Raises Invalid when there are none."""
    reader = _Reader()
    try:
        whole = structured.parse(reply.text, _Whole)
    except Invalid:
        text = structured.drop_thinking(reply.text)
        if reply.finish != "length" and '"records"' not in text:
            raise
        head, _, tail = text.partition('"corrections"')
        records, corrections = reader.entries(_decoded(head)), reader.entries(_decoded(tail))
        if not records:
            raise
        return Entries(records, corrections, cut=True, problems=reader.problems())
    records, corrections = reader.entries(whole.records), reader.entries(whole.corrections or ())
    if whole.records and not records:
        raise Invalid(f"No entry of the reply can be read: {'; '.join(reader.problems())}")
    return Entries(records, corrections, problems=reader.problems())


def _decoded(text: str) -> Iterator[Any]:
    """The whole values of a text that begins or ends within a list of them."""
    start = text.find("[")
    return structured.decoded(text[start + 1 :] if start >= 0 else text)


class _Reader:
    """Reads entries and notes what it leaves out."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._cells: list[str] = []

    def problems(self) -> tuple[str, ...]:
        """One line for entries, one for cells."""
        told = (
            ("entry that names no record was", "entries that name no record were", self._entries),
            ("cell without a text or number was", "cells without a text or number were", self._cells),
        )
        return tuple(
            f"{counted(len(lost), one, many)} left out of a reply ({', '.join(lost[:_SHOWN])}"
            f"{f' and {len(lost) - _SHOWN} more' if len(lost) > _SHOWN else ''})"
            for one, many, lost in told
            if lost
        )

    def entries(self, values: Any) -> tuple[Entry, ...]:
        """The entries that name a record."""
        found = []
        for value in values:
            record = _scalar(value.get("id")) if isinstance(value, dict) else None
            if record is None or isinstance(value["id"], bool):
                self._entries.append(_shown(value))
            else:
                found.append(Entry(record, _line(value.get("line")), tuple(self._read(record, value.get("cells")))))
        return tuple(found)

    def _read(self, record: str, cells: Any) -> Iterator[Cell]:
        """Cells that say something; `{"price": "5"}` is read as one too."""
        if isinstance(cells, dict):
            cells = [{"c": name, "v": value} for name, value in cells.items()]
        if not isinstance(cells, list):
            cells = [cells] if cells else []
        for cell in cells:
            value, name = (cell.get("v"), cell.get("c")) if isinstance(cell, dict) else (cell, None)
            if isinstance(cell, dict) and value in (None, ""):
                continue
            text = _scalar(value)
            if text is None or not isinstance(name, str):
                self._cells.append(f"{record}: {_shown(cell)}")
            else:
                yield Cell(name, text)


def _scalar(value: Any) -> str | None:
    """A text, a number or true and false as they are written in JSON; None for anything else."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _line(value: Any) -> int:
    """The number of a line; 0 for anything else."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    return int(value) if whole and 0 < value < _MOST_LINES else 0


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_CHARS]
