"""question + text → the lines of the text that matter for it, under a budget of characters, in the text's order.

Chosen by relevance, not position: a line at the end of a long file counts as much as one at its start.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from tasks.core.search.words import words

_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_LINE_CHARS = 600
_MARK = "…"
"""Stands for lines left out."""


def passages(question: str, text: str, chars: int) -> str:
    """The whole text where it fits; else lines with words of the question, rare words first, under their headings.

    Room that is left goes to the other lines from the start.
    """
    if len(text) <= chars:
        return text
    rows = [row[:_LINE_CHARS] for row in text.split("\n")]
    heads = _heads(rows)
    asked = words(question)
    found = {at: words(row) & asked for at, row in enumerate(rows) if row.strip() and not _HEADING.match(row)}
    spread = Counter(word for mine in found.values() for word in mine)
    worth = {at: sum(math.log(1 + len(found) / spread[word]) for word in sorted(mine)) for at, mine in found.items()}
    chosen: set[int] = set()
    left = chars
    for at in sorted(found, key=lambda at: (-worth[at], at)):
        new = {at, *heads[at]} - chosen
        cost = sum(len(rows[number]) + len(_MARK) + 2 for number in new)
        if cost <= left:
            chosen |= new
            left -= cost
    return "\n".join(_joined(rows, sorted(chosen)))


def _heads(rows: list[str]) -> list[tuple[int, ...]]:
    """For each row the headings that it stands under."""
    stack: list[tuple[int, int]] = []
    found = []
    for at, row in enumerate(rows):
        if _HEADING.match(row):
            level = len(row.lstrip()) - len(row.lstrip().lstrip("#"))
            stack = [(depth, place) for depth, place in stack if depth < level]
            found.append(tuple(place for _, place in stack))
            stack.append((level, at))
        else:
            found.append(tuple(place for _, place in stack))
    return found


def _joined(rows: list[str], chosen: list[int]) -> list[str]:
    told: list[str] = []
    last = -1
    for at in chosen:
        if any(row.strip() for row in rows[last + 1 : at]):
            told.append(_MARK)
        told.append(rows[at])
        last = at
    return told + [_MARK] * any(row.strip() for row in rows[last + 1 :])
