"""A slice → the schema of its reply; a reply, whole or cut off → its entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, create_model, field_validator

from tasks.core.llm import structured
from tasks.core.llm.request import Reply
from tasks.core.llm.structured import Invalid
from tasks.core.models.document import Slice


class CellReply(BaseModel):
    """One value."""

    c: str = Field(description="column")
    v: str = Field(description="value as written")

    @field_validator("c", "v", mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


class EntryReply(BaseModel):
    """What one line says about one record."""

    id: str
    line: int = 0
    cells: list[CellReply] = []

    @field_validator("id", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("line", mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        return 0 if value is None else value

    @field_validator("cells", mode="before")
    @classmethod
    def _stated(cls, value: Any) -> Any:
        """Without cells that say nothing; `{"price": "5"}` is read as a cell too."""
        if isinstance(value, dict):
            value = [{"c": name, "v": item} for name, item in value.items()]
        if not isinstance(value, list):
            return value or []
        return [cell for cell in value if not (isinstance(cell, dict) and cell.get("v") in (None, ""))]


class SliceReply(BaseModel):
    """A whole reply."""

    records: list[EntryReply]
    corrections: list[EntryReply] = []


@dataclass(frozen=True)
class Entries:
    """What could be read of a reply."""

    records: tuple[EntryReply, ...]
    corrections: tuple[EntryReply, ...] = ()
    cut: bool = False
    """The reply ended before its end; the record of the last entry may have had more."""


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
    try:
        whole = structured.parse(reply.text, SliceReply)
        return Entries(tuple(whole.records), tuple(whole.corrections))
    except Invalid:
        text = structured.drop_thinking(reply.text)
        if reply.finish != "length" and '"records"' not in text:
            raise
        head, _, tail = text.partition('"corrections"')
        records, corrections = _entries(head), _entries(tail)
        if not records:
            raise
        return Entries(records, corrections, cut=True)


def _entries(text: str) -> tuple[EntryReply, ...]:
    """The whole entries of a text that begins or ends within a list of them."""
    found = []
    start = text.find("[")
    for value in structured.decoded(text[start + 1 :] if start >= 0 else text):
        try:
            found.append(EntryReply.model_validate(value))
        except ValidationError:
            continue
    return tuple(found)
