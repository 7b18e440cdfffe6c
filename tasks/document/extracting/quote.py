"""A value as a model wrote it + lines → the value as it stands in one of them, with the clause around it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from tasks.core.models.document import ColumnType, PlanColumn
from tasks.document.extracting.orders import orders
from tasks.document.extracting.owner import Naming
from tasks.document.extracting.phrase import bracketed, whole, within
from tasks.document.extracting.sides import opposite
from tasks.document.extracting.stops import Stops

_QUOTE_CHARS, _SHOWN = 200, 3
_BEST = 8 + 4 + 2 + 1
"""What no place is worth more than; those before a record's name are worth less, so the first behind it that is ends the search."""
_NUMBER_CHARS = 40
"""More than what decides whether a number goes on before a place: a group of three, a comma."""
_STOPS = re.compile(r"[。；;！？!?]|\.(?=\s|$)|\n")
_PAUSES = re.compile(r"[，,、：:](?!\d)")
_SAME = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": "'", "—": "-", "–": "-", "−": "-", "‐": "-", "‑": "-",
                       "。": ".", "、": ",", "【": "[", "】": "]", "《": "<", "》": ">", "·": ".", "•": "."})  # fmt: skip
_TAIL = re.compile(
    r"(?:[0-9０-９]|[0-9０-９][.．]|(?<![0-9.\-/:])[0-9]{1,3}(?:,[0-9]{3})*,|(?<![０-９．])[０-９]{1,3}(?:，[０-９]{3})*，)$"
)
_ON = re.compile(r"[0-9０-９]|[.．][0-9０-９]")
_GROUP = re.compile(r"(?<![0-9.\-/:])[0-9]{1,3}(?:,[0-9]{3})*$|(?<![０-９．])[０-９]{1,3}(?:，[０-９]{3})*$")
_NEXT = re.compile(r",[0-9]{3}(?![0-9])|，[０-９]{3}(?![０-９])")
"""A number that goes on before or behind a place: its digits, its decimals, its groups of three. A wide comma parts
groups of wide digits only; behind others it is punctuation."""
_NUMERALS = frozenset("〇零一二三四五六七八九十百千两廿卅壹贰叁肆伍陆柒捌玖拾佰仟")


class Place(NamedTuple):
    """Where a value stands in a line."""

    written: str
    """As the line has it, with all that belongs to the number there."""
    quote: str
    """The clause around it."""
    start: int
    end: int
    doubt: str = ""
    """Why it may not be this record's, or not whole."""
    shared: int = -1
    """Where the list of records stands that has several values; -1 for none."""
    within: bool = False
    """Within a longer number of words, as one within forty-one: any other place is likelier meant."""


def find(raw: str, line: Naming, record: str = "", kind: ColumnType = "text", meaning: str = "") -> Place | None:
    """The value as the line has it and the clause around it; None when it is not there.

    Width, spaces, case and kinds of quotes and dashes do not matter. A number is not found within a longer one, and what
    stands beside it and changes its value is kept with it. An order to the reader states nothing. Of several places one
    that is no part of a longer number of words counts, then one that is the record's own, then one beside which nothing
    speaks against the column's `meaning`, then the first behind the record's name.
    """
    best: tuple[int, int, Place] | None = None
    named = line.first(record)
    for first, last in _spans(raw, line.line, named):
        found = _weighed(line, (first, last), record, (kind, meaning))
        if found and (best is None or (found[0], -first) > best[:2]):
            best = found[0], -first, found[1]
        if found and found[0] == _BEST:
            break
    return best[2] if best else None


def at(line: Naming, span: tuple[int, int], record: str, column: PlanColumn) -> Place | None:
    """The value at a span of the line, with the same checks as `find`; None where the span parts a number or word."""
    if not _whole(line.line, *span) or within(line.line, *span):
        return None
    found = _weighed(line, span, record, (column.type, column.task_meaning or column.doc_meaning))
    return found[1] if found else None


def _weighed(
    line: Naming, span: tuple[int, int], record: str, about: tuple[ColumnType, str]
) -> tuple[int, Place] | None:
    """How likely the span is the value that is meant, and its place; None within an order to the reader."""
    kind, meaning = about
    part = within(line.line, *span)
    start, end, doubt = whole(line.line, *span, kind)
    if any(low < end and start < high for low, high in orders(line.line)):
        return None
    found = line.owners(start, end, record)
    strange = bool(found.records) and record not in found.records
    if strange:
        doubt = f"it stands where the text speaks of {_named(found.records)}"
    against = opposite(line.line, start, end, kind, meaning) if meaning else ""
    doubt = doubt or against or _unsigned(line, start, end, kind)
    worth = 8 * (not part) + 4 * (not strange) + 2 * (not against) + (start > line.first(record))
    shared = found.shared if len(found.records) > 1 else -1
    return worth, Place(line.line[start:end], _clause(line.line, start, end), start, end, doubt, shared, part)


def nearest(
    raw: str, line: int, lines: Mapping[int, Naming], record: str = "", column: PlanColumn | None = None
) -> tuple[int, Place] | None:
    """Number of the line and place, in the line that was named or else in the closest one that has the value."""
    kind, meaning = (column.type, column.task_meaning or column.doc_meaning) if column else ("text", "")
    parts: list[tuple[int, Place]] = []
    for number in sorted(lines, key=lambda number: (abs(number - line), number)):
        if found := find(raw, lines[number], record, kind, meaning):
            if not found.within:
                return number, found
            parts.append((number, found))
    return parts[0] if parts else None


def _unsigned(line: Naming, start: int, end: int, kind: ColumnType) -> str:
    """Why the sign may be left out: brackets around a number alone mean a negative one in accounts, or an aside."""
    if kind not in ("integer", "number") or not bracketed(line.line, start, end):
        return ""
    if any(not line.line[name.end : start - 1].strip() for name in line.names if name.end < start):
        return ""
    return "it stands in brackets, which were left out: they may mean a negative number"


def _named(records: Sequence[str]) -> str:
    return ", ".join(records[:_SHOWN]) + (" and others" if len(records) > _SHOWN else "")


def _spans(raw: str, line: str, named: int) -> Iterator[tuple[int, int]]:
    """Where the value stands behind the place `named`, then where it stands before it, each in the line's order."""
    wanted, _ = _plain(raw)
    text, places = _plain(line)
    if not wanted:
        return
    behind = bisect_right(places, named)
    for low, high in ((behind, len(text)), (0, behind)):
        at = text.find(wanted, low)
        while 0 <= at < high:
            last = at + len(wanted) - 1
            start, end = places[at], places[last] + 1
            parts_none = places[at - 1 : at] != [start] and places[last + 1 : last + 2] != [end - 1]
            if parts_none and _whole(line, start, end):
                yield start, end
            at = text.find(wanted, at + 1)


@lru_cache(maxsize=256)
def _plain(text: str) -> tuple[str, list[int]]:
    """The text in one width, case and kind of marks, without spaces, and where each of its characters stood.

    One character may become several, as Ⅱ does: a place in the middle of them is none.
    """
    kept, places = [], []
    for at, char in enumerate(text):
        for same in unicodedata.normalize("NFKC", char).translate(_SAME).casefold():
            if not same.isspace():
                kept.append(same)
                places.append(at)
    return "".join(kept), places


def _whole(line: str, start: int, end: int) -> bool:
    """Whether no number and no Latin word goes on beyond the span, and a sign alone is none of a number or word."""
    before, behind = line[start - 1 : start], line[end : end + 1]
    if not any(char.isalnum() for char in line[start:end]):
        return not any(_latin(char) or char.isdigit() for char in (before, behind) if char)
    first, last = line[start], line[end - 1]
    if first.isdigit() and _TAIL.search(line, max(0, start - _NUMBER_CHARS), start):
        return False
    if last.isdigit() and (
        _ON.match(line, end) or (_NEXT.match(line, end) and _GROUP.search(line, max(0, end - _NUMBER_CHARS), end))
    ):
        return False
    if any(
        one in _NUMERALS and other in _NUMERALS for one, other in ((before, first), (last, behind)) if one and other
    ):
        return False
    return not (_latin(first) and _latin(before)) and not (_latin(last) and _latin(behind))


def _latin(char: str) -> bool:
    return char.isalpha() and char < "\u2000"


@lru_cache(maxsize=256)
def _stops(line: str) -> Stops:
    return Stops(_STOPS, line)


def _clause(line: str, start: int, end: int) -> str:
    """The sentence that holds the span, or where that is long the part between pauses."""
    left, stop = _stops(line).around(start, end)
    right = min(stop + 1, len(line))
    if right - left > _QUOTE_CHARS:
        room = max(0, (_QUOTE_CHARS - (end - start)) // 2)
        lower, upper = max(left, start - room), min(right, end + room)
        pauses = [match.end() for match in _PAUSES.finditer(line, lower, start)]
        left = lower if lower == left or not pauses else pauses[0]
        ends = [match.start() for match in _PAUSES.finditer(line, end, upper)]
        right = upper if upper == right or not ends else ends[-1]
    return line[left:right].strip()
