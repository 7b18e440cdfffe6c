"""A value as a model wrote it + lines → the value as it stands in one of them, with the clause around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_QUOTE_CHARS = 200
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
_REST = re.compile(r"[0-9０-９]+(?:[.．][0-9０-９]+)?[千百十]?[万萬]?")
"""What goes on behind 3亿 in 3亿2000万."""
_UNIT = re.compile(
    r"\s*(?:[%％‰‱]|(?:几|多|[余餘](?![额額款下数數地]))[千百十]?[万萬亿億]?|[千百十]?[万萬亿億兆](?!一|分)|(?:per\s?cent|percent|per\s?mille|basis points|bps?|pp)\b"
    r"|(?:thousand|million|billion|trillion|mn|bn|tn|k|m|b)\b)",
    re.IGNORECASE,
)
"""What changes a number's value and stands right behind it: never left out of what is kept as written."""


def find(raw: str, line: str, after: Sequence[str] = ()) -> tuple[str, str] | None:
    """The value as the line has it and the clause around it; None when it is not there.

    Width, spaces, case and kinds of quotes and dashes do not matter. A number is not found within a longer one. Of
    several places the first behind the record counts: behind the first of these names of it that stands whole in the line
    (7 does not stand in 17).
    """
    spans = list(_spans(raw, line))
    if not spans:
        return None
    named = next((start for name in after for start, _ in _spans(name, line)), -1)
    start, end = next((span for span in spans if span[0] > named), spans[0])
    if line[end - 1] in "万萬亿億" and (rest := _REST.match(line, end)):
        end = rest.end()
    if line[end - 1].isnumeric() and (unit := _UNIT.match(line, end)):
        end = unit.end()
    if line[start].isdigit() and start and line[start - 1] in "-−－" and not _joins(line[start - 2 : start - 1]):
        start -= 1
    return line[start:end], _clause(line, start, end)


def nearest(
    raw: str, line: int, lines: Sequence[tuple[int, str]], after: Sequence[str] = ()
) -> tuple[int, str, str] | None:
    """Number of the line, value and clause, in the line that was named or else in the closest one that has it."""
    for number, text in sorted(lines, key=lambda item: (abs(item[0] - line), item[0])):
        if found := find(raw, text, after):
            return (number, *found)
    return None


def _spans(raw: str, line: str) -> Iterator[tuple[int, int]]:
    wanted, _ = _plain(raw)
    text, places = _plain(line)
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        last = at + len(wanted) - 1
        start, end = places[at], places[last] + 1
        parts_none = places[at - 1 : at] != [start] and places[last + 1 : last + 2] != [end - 1]
        if parts_none and _whole(line, start, end):
            yield start, end
        at = text.find(wanted, at + 1)


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
    """Whether no number and no Latin word goes on beyond the span."""
    before, behind = line[start - 1 : start], line[end : end + 1]
    first, last = line[start], line[end - 1]
    if first.isdigit() and _TAIL.search(line, 0, start):
        return False
    if last.isdigit() and (_ON.match(line, end) or (_NEXT.match(line, end) and _GROUP.search(line, 0, end))):
        return False
    if any(
        one in _NUMERALS and other in _NUMERALS for one, other in ((before, first), (last, behind)) if one and other
    ):
        return False
    return not (_latin(first) and _latin(before)) and not (_latin(last) and _latin(behind))


def _joins(before: str) -> bool:
    """Whether a dash behind this is part of a name or a range, no sign."""
    return before.isascii() and before.isalnum()


def _latin(char: str) -> bool:
    return char.isalpha() and char < "\u2000"


def _clause(line: str, start: int, end: int) -> str:
    """The sentence that holds the span, or where that is long the part between pauses."""
    left = max((match.end() for match in _STOPS.finditer(line, 0, start)), default=0)
    stop = _STOPS.search(line, end)
    right = stop.end() if stop else len(line)
    if right - left > _QUOTE_CHARS:
        room = max(0, (_QUOTE_CHARS - (end - start)) // 2)
        lower, upper = max(left, start - room), min(right, end + room)
        pauses = [match.end() for match in _PAUSES.finditer(line, lower, start)]
        left = lower if lower == left or not pauses else pauses[0]
        ends = [match.start() for match in _PAUSES.finditer(line, end, upper)]
        right = upper if upper == right or not ends else ends[-1]
    return line[left:right].strip()
