"""A statement, its reading + the quote around it → the reading, with the unit and sign that the copied text left out.

A reader may copy 14.1 where the text says 14.1 g/dL, or 3% where it says 下跌3%: the quote, cut by code, has the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tasks.core.models.document import ColumnType, Reading, Source
from tasks.core.values.door import read_value
from tasks.core.values.quantity import CURRENCY_BEFORE, FALLS
from tasks.core.values.units import unit_of
from tasks.document.normalising.reading import doubted, is_number

_FALL_BEFORE = re.compile(rf"(?:{FALLS})\s*(?:了|by|about|some|roughly|约|近)?\s*$", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"(?:(?:\b(?:not|never|instead of|rather than)|n['’]t)\s+(?!only\b|just\b)(?:[a-z]+\s+)?|(?:并非|不是|而非)\s*)$",
    re.IGNORECASE,
)
"""What says right before a number that it is not the one: did not sell 9."""
_BEHIND = re.compile(r"\s*[^\s\d,，。;；、:：()（）\[\]“”\"']+(?:[ /][^\s\d,，。;；、:：()（）\[\]“”\"']+){0,3}")
_LONGEST = 12
"""Signs of a Chinese unit behind a number."""
_OTHERS = frozenset({"a", "in", "x", "s", "h", "d", "u", "times", "分", "a day", "个"})
"""Units by the table that in a sentence are mostly another word."""


def complete(source: Source, reading: Reading, type: ColumnType, readings: Mapping[str, Reading]) -> Reading:
    """The reading; `readings` are those of the whole column. It is `unverified` where the quote leaves it in doubt."""
    if reading.status not in ("verified", "derived") or not is_number(reading.value):
        return reading
    return _stated(source, _signed(source, _measured(source, reading, type), readings))


def _stated(source: Source, reading: Reading) -> Reading:
    """`unverified` where the quote denies the number wherever it stands."""
    before = source.quote.split(source.raw)[:-1] if source.raw else []
    if before and all(_DENIED_BEFORE.search(text) for text in before):
        return doubted(reading, "the text denies it")
    return reading


def _measured(source: Source, reading: Reading, type: ColumnType) -> Reading:
    """With the unit that stands beside the text in the quote, where the library had to assume one."""
    wanted = reading.assumed
    at = source.quote.find(source.raw) if wanted and source.raw else -1
    if at < 0 or source.quote.count(source.raw) > 1:
        return reading
    behind = _unit_behind(source.quote[at + len(source.raw) :])
    before = CURRENCY_BEFORE.search(source.quote, 0, at)
    unit = behind or (before[1] if before else "")
    if not unit or _equal(unit, wanted):
        return reading
    again = read_value(f"{source.raw} {unit}" if behind else f"{unit}{source.raw}", type, wanted)
    side = "behind" if behind else "before"
    if again.status == "verified":
        return again.model_copy(update={"raw": reading.raw, "note": joined(again.note, f"{unit} stands {side} it")})
    return doubted(reading, f"the text says {unit} {side} it")


def _unit_behind(text: str) -> str:
    """The longest unit that a text begins with; empty for none."""
    found = _BEHIND.match(text)
    for part in _beginnings(found[0].strip()) if found else ():
        unit = unit_of(part) if part.lower() not in _OTHERS else None
        if unit and unit.dimension and not unit.dimension.startswith("count:"):
            return part
    return ""


def _beginnings(text: str) -> Iterable[str]:
    if text.isascii():
        words = text.rstrip(".").split(" ")
        return (" ".join(words[:count]) for count in range(len(words), 0, -1))
    return (text[:end] for end in range(min(len(text), _LONGEST), 0, -1))


def _equal(written: str, wanted: str) -> bool:
    one, other = unit_of(written), unit_of(wanted)
    return bool(one and other and (one.dimension, one.factor) == (other.dimension, other.factor))


def _signed(source: Source, reading: Reading, readings: Mapping[str, Reading]) -> Reading:
    """`unverified` where the quote says a fall right before the text and the column holds negative values."""
    before = source.quote.split(source.raw)[:-1] if source.raw else []
    if not before or not is_number(reading.value) or reading.value <= 0:
        return reading
    if not all(_FALL_BEFORE.search(text) for text in before):
        return reading
    if not any(is_number(other.value) and other.value < 0 for other in readings.values()):
        return reading
    return doubted(reading, "the text says a fall before it: its sign is not sure")


def joined(*notes: str) -> str:
    """The notes that say something, as one."""
    return "; ".join(note for note in notes if note)
