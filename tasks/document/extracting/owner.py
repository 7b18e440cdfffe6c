"""A line with the places where it names records → whose value a place of it may be.

Records share lines, and a model swaps their values easily. The clause decides: what stands in the clause of another
record is not this one's. Where the wording leaves it open, all that may be meant are owners.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from tasks.document.extracting.lists import CLAUSE, COMPARED, Group, Lists, is_aside, listed
from tasks.document.extracting.lists import Name as Name
from tasks.document.extracting.stops import Stops

_FULL = re.compile(
    r"[。！？!?|\n]|(?:(?<=[a-z0-9%)\"”’€$°])|(?<=[A-Z]{2}))\.(?=\s|$)"
    r"|(?<=[A-Z])\.(?=\s+(?:The|An?|In|Its?|On|At|For|From|By|No|This|That|These|They|Their)\s|$)"
)
"""Ends a sentence; the point of an initial ends none, but that of Class II. or Class I. The …"""
_NUMBER = re.compile(r"[0-9０-９]+(?:[.,][0-9０-９]+)*")
_NEXT = re.compile(r"[^\s,，、]{0,3}\s*(?:,?\s*and\s+|[,，、和与及])\s*[^\w\s]?")
_NEXT_FAR = re.compile(r"[^\d,，、;；。!?]{0,20}?(?:,?\s*and\s+|[,，、和与及])[^\d,，、;；。!?]{0,8}")
"""Between two numbers of a list; where it says `respectively`, their units may stand there too."""
_MARKS = ".,;:，。；：、"
_IN_ORDER = re.compile(r"\brespectively\b|\bin that order\b|分别|依次", re.IGNORECASE)


_BACK = re.compile(r"\b(?:its?|it is|whose|which|their|(?:this|that|these|those)(?!\s+of))\b|其|该|此", re.IGNORECASE)
"""What points back from one clause to the one before."""
_OTHER = re.compile(r"[;；]|\s(?:and|while|but|whereas)\s|而(?!非)|但")
"""Between clauses that may speak of different things."""


class Owners(NamedTuple):
    """Whose value a place may be."""

    records: tuple[str, ...] = ()
    """In the order of the line; empty: it does not say."""
    shared: int = -1
    """Where the list of names stands that the value is of; -1 where one name alone decides."""


@dataclass(frozen=True)
class Naming:
    """A line and where it names records."""

    line: str
    names: tuple[Name, ...] = ()
    """In the order of the line, none within another; a name that several records have is there for each."""

    def owners(self, start: int, end: int, record: str = "") -> Owners:
        """Whose value the span is. Of a record that the line never names only another one's own clause is not."""
        while end > start + 1 and self.line[end - 1] in _MARKS:
            end -= 1
        lists = self._around_names(start, end)
        if not lists.groups:
            return Owners()
        low, high = lists.clause(start, end)
        own = lists.between(low, high)
        if own and not all(group[0].start >= end and is_aside(self.line, group, COMPARED) for group in own):
            chosen = self._named(own, low, (start, end))
        else:
            chosen = self._topic(lists, (start, end), not record or self.names_record(record))
        return self._shared(chosen, start, end) if len(chosen) == 1 else _all(chosen)

    def names_record(self, record: str) -> bool:
        """Whether the line names it."""
        return record in self._firsts

    def first(self, record: str) -> int:
        """Where the line names it first; -1 where it does not."""
        return self._firsts.get(record, -1)

    @cached_property
    def _firsts(self) -> dict[str, int]:
        return {name.record: name.start for name in reversed(self.names)}

    @cached_property
    def _breaks(self) -> list[tuple[int, int]]:
        return [found.span() for found in CLAUSE.finditer(self.line)]

    @cached_property
    def _all_lists(self) -> Lists:
        return Lists(self.line, listed(self.line, self.names), self._breaks)

    @cached_property
    def _starts(self) -> list[int]:
        return [name.start for name in self.names]

    @cached_property
    def _sentences(self) -> Stops:
        return Stops(_FULL, self.line)

    @cached_property
    def _orders(self) -> list[tuple[int, int]]:
        return [found.span() for found in _IN_ORDER.finditer(self.line)]

    def _in_order(self, start: int, end: int) -> bool:
        """Whether it says `respectively` there."""
        at = bisect_left(self._orders, (start, start))
        return at < len(self._orders) and self._orders[at][1] <= end

    def _around_names(self, start: int, end: int) -> Lists:
        """The lists of names, without those that the span touches: such a line is looked at anew, and there are few."""
        before = bisect_left(self._starts, end)
        if not before or self.names[before - 1].end <= start:
            return self._all_lists
        names = [name for name in self.names if name.end <= start or name.start >= end]
        return Lists(self.line, listed(self.line, names), self._breaks)

    def _named(self, own: Sequence[Group], low: int, span: tuple[int, int]) -> list[Group]:
        """Of the names in the value's own clause the last before it, or the next where values come first."""
        before = [group for group in own if group[-1].end <= span[0]]
        behind = [group for group in own if group[0].start >= span[1]]
        values_first = bool(_NUMBER.search(self.line, low, own[0][0].start))
        if behind and (values_first or not before):
            return behind[:1]
        main = [group for group in before if not is_aside(self.line, group)]
        return main[-1:] or before

    def _topic(self, lists: Lists, span: tuple[int, int], is_named: bool) -> list[Group]:
        """Whom a clause without a name speaks of: who is named before it in the sentence, else whoever may be meant.

        Of a record that the line never names (`is_named` is false) another sentence says nothing.
        """
        start, end = span
        opened, closed = self._sentences.around(start, end)
        if before := lists.main_between(opened, start):
            if self._in_order(before[-1][-1].end, end):
                return [[name for group in before for name in group]]
            low, high = lists.clause(before[-1][0].start, before[-1][-1].end)
            return [group for group in before if low <= group[0].start < high]
        behind = [group for group in lists.between(end, closed) if not is_aside(self.line, group, COMPARED)][:1]
        goes_on = bool(behind) and self._goes_on(end, behind[0][0].start, lists)
        if goes_on or not is_named:
            return behind if goes_on else []
        earlier = lists.last_main(opened)
        if earlier:
            sentence, _ = self._sentences.around(earlier[0].start, earlier[-1].end)
            return [*lists.main_between(sentence, opened), *behind]
        return behind

    def _goes_on(self, end: int, start: int, lists: Lists) -> bool:
        """Whether the clause of the name that begins at `start` goes on about what was said before it: its, 其."""
        low, _ = lists.clause(start, start + 1)
        return bool(_BACK.search(self.line, low, start)) or not _OTHER.search(self.line, end, low)

    def _shared(self, chosen: Sequence[Group], start: int, end: int) -> Owners:
        """One of a list of names, where the values are a list as long (A and B sold 12 and 30); else all of them."""
        group = chosen[0]
        records = tuple(dict.fromkeys(name.record for name in group))
        if len(records) == 1 or any(one[1:] == other[1:] for one, other in pairwise(group)):
            return Owners(records)
        _, closed = self._sentences.around(start, end)
        run = self._run(group[-1].end, closed, start)
        at = next((i for i, (first, last) in enumerate(run) if first < end and last > start), -1)
        return Owners((records[at],)) if at >= 0 and len(run) == len(records) else Owners(records, group[0].start)

    def _run(self, low: int, high: int, start: int) -> list[tuple[int, int]]:
        """The list of numbers that goes on over the place `start`."""
        joint = _NEXT_FAR if _IN_ORDER.search(self.line, low, high) else _NEXT
        run: list[tuple[int, int]] = []
        for number in _NUMBER.finditer(self.line, low, high):
            if run and not joint.fullmatch(self.line, run[-1][1], number.start()):
                if run[-1][1] > start:
                    break
                run = []
            run.append(number.span())
        return run


def _all(groups: Sequence[Group]) -> Owners:
    return Owners(tuple(dict.fromkeys(name.record for group in groups for name in group)))


def naming(line: str, names: Sequence[Name]) -> Naming:
    """The line with its names in order; what begins within another name names nobody, and one name may be of several."""
    kept: list[Name] = []
    for name in sorted(names, key=lambda n: (n.start, -n.end, n.record)):
        if not kept or name.start >= kept[-1].end or name[1:] == kept[-1][1:]:
            kept.append(name)
    return Naming(line, tuple(kept))
