"""Text and tables that were read + what was printed → how much of it is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

Row = tuple[str, ...]
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
_MARKS = re.compile(r"[\\*#_`]|^\s*>|<br>", re.MULTILINE)
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*")


def plain(text: str) -> str:
    """Without the marks of Markdown, blanks as one, so that ways of writing Markdown count alike."""
    return " ".join(_MARKS.sub("", text).split())


def errors(true: str, found: str) -> float:
    """Share of the true characters that insertions, deletions and changes make up (character error rate), blanks aside."""
    true, found = ("".join(plain(text).split()) for text in (true, found))
    return distance(true, found) / max(len(true), 1)


def distance(one: str, other: str) -> int:
    """Fewest insertions, deletions and changes that make the one text the other; bit-parallel after Myers and Hyyrö."""
    if not one:
        return len(other)
    places: dict[str, int] = {}
    for at, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << at
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    above, below, score = full, 0, len(one)
    for char in other:
        same = places.get(char, 0)
        across = (((same & above) + above) ^ above) | same
        reach = same | below
        up, down = below | ~(across | above), above & across
        score += bool(up & last) - bool(down & last)
        up, down = (up << 1) | 1, down << 1
        above, below = (down | ~(reach | up)) & full, up & reach & full
    return score


def words(true: str, found: str) -> float:
    """Share of the true words (of Chinese each character) that were found, in any order."""
    wanted = Counter(_WORD.findall(plain(true)))
    return (wanted & Counter(_WORD.findall(plain(found)))).total() / max(wanted.total(), 1)


def cells(true: Sequence[Row], found: Sequence[Row]) -> float:
    """Share of the true cells that stand in their column, in the row whose first cell is theirs."""
    by_first: dict[str, Row] = {}
    for row in found:
        if row:
            by_first.setdefault(row[0], row)
    right = sum(cell == there for row in true for cell, there in zip(row, by_first.get(row[0], ()), strict=False))
    return right / max(sum(map(len, true)), 1)


def rows(markdown: str) -> list[Row]:
    """The rows of all tables in a Markdown text."""
    found: list[Row] = []
    for line in markdown.splitlines():
        if line.lstrip().startswith("|") and not is_rule(line):
            found.append(tuple(plain(cell) for cell in line.strip().strip("|").split("|")))
    return found


def is_rule(line: str) -> bool:
    """Whether the line only parts a Markdown table's head from its body."""
    return bool(_RULE.fullmatch(line.strip()))
