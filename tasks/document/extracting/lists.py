"""A line's names of records → lists of them, its clauses, and which of them stand around a place, each looked up and not searched for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

CLAUSE = re.compile(
    r"[。；;！？!?|、\n]|(?<![0-9])[,:]|[,:](?![0-9])|[，：](?![０-９])|\.(?=\s|$)"
    r"|\s(?:and|while|but|whereas)\s|而(?!非)|但"
)
"""Ends a clause; a mark within a number ends none."""
_WORD = r"(?:[A-Za-z.#№]{1,12}\s*|[\u4e00-\u9fff]{1,3}\s*)?"
"""What a record is called before its id: store, 编号."""
_SUFFIX = r"(?:\s*[（(]\s*[A-Za-z\u4e00-\u9fff][^()（）]{0,24}[)）])?号?"
"""What belongs to a name and stands behind it: another name in brackets, 号."""
_AND = re.compile(rf"{_SUFFIX}(?:\s*,?\s+(?:and|plus|as well as)\s+|\s*[&/、和与及]\s*|\s*以及\s*){_WORD}")
_COMMA = re.compile(rf"{_SUFFIX}\s*[,，]\s*{_WORD}")
_LIKE = (
    r"as\s+\w+(?:\s+\w+)?\s+as|same\s+as|of\s+what|(?:days?|weeks?|months?|years?|hours?)\s+(?:after|before)|than|unlike|like"
    r"|against|versus|vs\.?|not|instead of|rather than|compared (?:with|to)|relative to"
)
_LIKE_WIDE = "比|较|不同于|高于|低于|超过|而非|不是"
COMPARED = re.compile(rf"(?:\b(?:{_LIKE})\s+|{_LIKE_WIDE})(?:the\s+)?{_WORD}$", re.IGNORECASE)
"""Before a name that the clause only compares with: its own values stand behind it, if anywhere."""
ASIDE = re.compile(rf"(?:\b(?:{_LIKE}|to|from|by|with)\s+|{_LIKE_WIDE}|向|由|从|自)(?:the\s+)?{_WORD}$", re.IGNORECASE)
"""The same, and before a name that the clause goes to."""
_ASIDE_CHARS = 40


class Name(NamedTuple):
    """A place where a line names a record."""

    record: str
    start: int
    end: int


Group = list[Name]
"""Names that stand together as a list (A, B and C)."""


class Lists:
    """The lists of names of a line in their order, and the clauses that its `breaks` part; a list is in one clause."""

    def __init__(self, line: str, groups: list[Group], breaks: Sequence[tuple[int, int]]) -> None:
        self.groups = groups
        self._line, self._breaks = line, breaks
        self._starts = [group[0].start for group in groups]

    def clause(self, start: int, end: int) -> tuple[int, int]:
        """The clause around a span."""
        firsts, lasts = self._clauses
        before, behind = bisect_right(lasts, start), bisect_left(firsts, end)
        return lasts[before - 1] if before else 0, firsts[behind] if behind < len(firsts) else len(self._line)

    def between(self, low: int, high: int) -> list[Group]:
        """Lists that begin there."""
        return self.groups[bisect_left(self._starts, low) : bisect_left(self._starts, high)]

    def main_between(self, low: int, high: int) -> list[Group]:
        """Those of them that the line speaks of, and does not only mention."""
        main, starts = self._main
        return main[bisect_left(starts, low) : bisect_left(starts, high)]

    def last_main(self, before: int) -> Group:
        """The last of these that begins before a place; empty where there is none."""
        main, starts = self._main
        at = bisect_left(starts, before)
        return main[at - 1] if at else []

    @cached_property
    def _clauses(self) -> tuple[list[int], list[int]]:
        kept = [span for span in self._breaks if not self._within_list(span[0])]
        return [first for first, _ in kept], [last for _, last in kept]

    def _within_list(self, place: int) -> bool:
        at = bisect_right(self._starts, place)
        return bool(at) and place < self.groups[at - 1][-1].end

    @cached_property
    def _main(self) -> tuple[list[Group], list[int]]:
        main = [group for group in self.groups if not is_aside(self._line, group)]
        return main, [group[0].start for group in main]


def is_aside(line: str, group: Group, pattern: re.Pattern[str] = ASIDE) -> bool:
    """Whether the line only compares with a list of names, or goes to it."""
    return bool(pattern.search(line[max(0, group[0].start - _ASIDE_CHARS) : group[0].start]))


def listed(line: str, names: Sequence[Name]) -> list[Group]:
    """Names that only `and` and commas part are one list; commas alone make none."""
    groups: list[Group] = []
    joined = True
    for name in names:
        between = line[groups[-1][-1].end : name.start] if groups else ""
        if (
            groups
            and groups[-1][-1].record == name.record
            and len(between) < _ASIDE_CHARS
            and not CLAUSE.search(between)
        ):
            groups[-1].append(name)
            continue
        if groups and groups[-1][-1].start == name.start:
            groups[-1].append(name)
            continue
        comma = bool(_COMMA.fullmatch(between)) if groups else False
        if groups and (_AND.fullmatch(between) or comma):
            groups[-1].append(name)
            joined = not comma
            continue
        if groups:
            groups += _parted(groups.pop(), joined)
        groups.append([name])
        joined = True
    return [*groups[:-1], *_parted(groups[-1], joined)] if groups else []


def _parted(group: Group, joined: bool) -> list[Group]:
    return [group] if joined else [[name] for name in group]
