"""All statements about a cell + their readings → its value and status; what does not hold stays beside it.

A conflict has no value: the text says two things and does not decide, and neither do we. Equal after reading is no
conflict, nor is a rounded statement (约, about) beside the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tasks.core.models.document import CellStatus, ColumnType, MergedCell, Plain, Reading, Source
from tasks.core.values.door import read_value
from tasks.document.normalising.reading import SAME, doubted, same
from tasks.document.storing.around import complete, joined

Relation = Literal["holds", "repeats", "superseded", "contradicts"]
_SHOWN, _UNFOUND_CHARS = 4, 80


@dataclass(frozen=True)
class Statement:
    """One statement of the text, and how it stands to the cell's value."""

    source: Source
    reading: Reading
    relation: Relation


@dataclass(frozen=True)
class Settled:
    """A cell of the table."""

    value: Plain
    status: CellStatus
    note: str = ""
    statements: tuple[Statement, ...] = ()
    """In text order."""
    asked: bool = True
    """False: no line that was read for the column names the record."""

    @property
    def source(self) -> Source | None:
        """The statement that the value is taken from; of a conflict the first of those that contradict each other."""
        of = [s for s in self.statements if s.relation in ("holds", "contradicts")]
        return of[0].source if of else None


NOTHING = Settled(None, "missing", "no value was named")
UNASKED = Settled(
    None, "missing", "the text does not name the record in the lines of this column: nothing was asked", asked=False
)
UNREAD = Settled(None, "unread", "no reply told of this record: whether the text says anything is not known")
IDLE = Settled(None, "unread", "nothing was asked: no reply was got for this column's part of the text", asked=False)


def with_unfound(settled: Settled, texts: Sequence[str]) -> Settled:
    """The cell with what a reply gave for it and the text does not have: said, and never a value.

    Where it leaves the cell empty, whether the text states a value is not known, unless the reply's word was that it does not.
    """
    if not texts:
        return settled
    if settled.status == "missing" and not settled.statements and not all(_is_none(text) for text in texts):
        settled = replace(settled, status="unread")
    note = "" if settled.note == NOTHING.note else settled.note
    said = f"a reply gave {_list([repr(text[:_UNFOUND_CHARS]) for text in texts])}, which no statement of the text has"
    return replace(settled, note=joined(note, said))


def _is_none(text: str) -> bool:
    """Whether a reply says that the text states none; dots are what prompts show in place of a value."""
    return bool(text.strip(" .…")) and read_value(text, "number").status == "missing"


def settle(cell: MergedCell | None, readings: Mapping[str, Reading], type: ColumnType) -> Settled:
    """The cell's value by the statements that hold; `readings` by raw text."""
    if cell is None or not cell.sources:
        return NOTHING
    read = [(s, _read(s, type, readings)) for s in cell.sources]
    held = cell.holding
    valid = [(source, reading) for source, reading in read if source in held]
    told = [pair for pair in valid if pair[1].status != "missing"] or valid
    known = [pair for pair in told if pair[1].value is not None]
    chosen = _best(known or told)
    if any(not _agree(chosen[1], reading) for _, reading in known):
        return _conflict(read, known)
    status, note = chosen[1].status, chosen[1].note
    if len(known) < len(told) and known:
        unread = [reading.raw for _, reading in told if reading.value is None]
        status, note = "unverified", joined(note, f"the text also says {_list(unread)}, which could not be read")
    statements = tuple(
        Statement(source, reading, "holds" if source is chosen[0] else "repeats" if source in held else "superseded")
        for source, reading in read
    )
    return Settled(chosen[1].value, status, note, statements)


def _read(source: Source, type: ColumnType, readings: Mapping[str, Reading]) -> Reading:
    reading = complete(source, readings.get(source.raw) or as_written(source.raw, type), type, readings)
    return doubted(reading, source.doubt) if source.doubt else reading


def as_written(raw: str, type: ColumnType) -> Reading:
    """The reading of a raw text that nobody read: itself in a text column, nothing elsewhere."""
    if type == "text":
        return Reading(raw=raw, value=raw.strip(), status="verified")
    return Reading(raw=raw, value=None, status="unverified", note="was not read")


def _conflict(read: list[tuple[Source, Reading]], known: list[tuple[Source, Reading]]) -> Settled:
    against = [source for source, _ in known]
    statements = tuple(
        Statement(source, reading, "contradicts" if source in against else "superseded") for source, reading in read
    )
    values = list(dict.fromkeys(f"{reading.raw} (line {source.line})" for source, reading in known))
    return Settled(None, "conflict", f"the text says {_list(values)} and corrects none", statements)


def _best(pairs: list[tuple[Source, Reading]]) -> tuple[Source, Reading]:
    """The exact one before the rounded, the verified before others; of equals the last."""
    order = {"verified": 2, "derived": 1}
    return max(enumerate(pairs), key=lambda p: (not p[1][1].rounded, order.get(p[1][1].status, 0), p[0]))[1]


def _agree(chosen: Reading, other: Reading) -> bool:
    if same(chosen.value, other.value):
        return True
    if not other.rounded or isinstance(chosen.value, str | bool | None) or isinstance(other.value, str | bool | None):
        return False
    return math.isclose(chosen.value, other.value, abs_tol=_step(other.value) * (1 + SAME), rel_tol=0)


def _step(value: float) -> float:
    """The unit of the last digit that is not zero: 6,970,000 is rounded to 10,000."""
    if not value:
        return 0.0
    digits = f"{abs(value):.12e}".split("e")
    exponent, kept = int(digits[1]), len(digits[0].replace(".", "").rstrip("0"))
    return float(10.0 ** (exponent - kept + 1))


def _list(values: list[str]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more
