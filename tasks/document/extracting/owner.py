"""A line with the places where it names records → whose value a place of it may be.

Records share lines, and a model swaps their values easily. The clause decides: what stands in the clause of another
record is not this one's. Where the wording leaves it open, all that may be meant are owners.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

_CLAUSE = re.compile(
    r"[。；;！？!?|、\n]|(?<![0-9])[,:]|[,:](?![0-9])|[，：](?![０-９])|\.(?=\s|$)"
    r"|\s(?:and|while|but|whereas)\s|而(?!非)|但"
)
"""Ends a clause; a mark within a number ends none."""
_FULL = re.compile(
    r"[。！？!?|\n]|(?:(?<=[a-z0-9%)\"”’€$°])|(?<=[A-Z]{2}))\.(?=\s|$)"
    r"|(?<=[A-Z])\.(?=\s+(?:The|An?|In|Its?|On|At|For|From|By|No|This|That|These|They|Their)\s|$)"
)
"""Ends a sentence; the point of an initial ends none, but that of Class II. or Class I. The …"""
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
_COMPARED = re.compile(rf"(?:\b(?:{_LIKE})\s+|{_LIKE_WIDE})(?:the\s+)?{_WORD}$", re.IGNORECASE)
"""Before a name that the clause only compares with: its own values stand behind it, if anywhere."""
_ASIDE = re.compile(rf"(?:\b(?:{_LIKE}|to|from|by|with)\s+|{_LIKE_WIDE}|向|由|从|自)(?:the\s+)?{_WORD}$", re.IGNORECASE)
"""The same, and before a name that the clause goes to."""
_ASIDE_CHARS = 40
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


class Name(NamedTuple):
    """A place where a line names a record."""

    record: str
    start: int
    end: int


class Owners(NamedTuple):
    """Whose value a place may be."""

    records: tuple[str, ...] = ()
    """In the order of the line; empty: it does not say."""
    shared: int = -1
    """Where the list of names stands that the value is of; -1 where one name alone decides."""


Group = list[Name]
"""Names that stand together as a list (A, B and C)."""


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
        groups = _groups(self.line, [name for name in self.names if name.end <= start or name.start >= end])
        if not groups:
            return Owners()
        low, high = self._clause(start, end, groups)
        own = [group for group in groups if low <= group[0].start < high]
        if own and not all(group[0].start >= end and self._is_aside(group, _COMPARED) for group in own):
            chosen = self._named(own, low, (start, end))
        else:
            chosen = self._topic(groups, (start, end), not record or self.names_record(record))
        return self._shared(chosen, start, end) if len(chosen) == 1 else _all(chosen)

    def names_record(self, record: str) -> bool:
        """Whether the line names it."""
        return any(name.record == record for name in self.names)

    def first(self, record: str) -> int:
        """Where the line names it first; -1 where it does not."""
        return next((name.start for name in self.names if name.record == record), -1)

    @cached_property
    def _breaks(self) -> list[tuple[int, int]]:
        return [found.span() for found in _CLAUSE.finditer(self.line)]

    def _clause(self, start: int, end: int, groups: Sequence[Group]) -> tuple[int, int]:
        """The clause around a span; a list of names is in one clause."""
        lists = [(group[0].start, group[-1].end) for group in groups]
        breaks = [at for at in self._breaks if not any(low <= at[0] < high for low, high in lists)]
        return (
            max((stop for _, stop in breaks if stop <= start), default=0),
            min((first for first, _ in breaks if first >= end), default=len(self.line)),
        )

    def _named(self, own: list[Group], low: int, span: tuple[int, int]) -> list[Group]:
        """Of the names in the value's own clause the last before it, or the next where values come first."""
        before = [group for group in own if group[-1].end <= span[0]]
        behind = [group for group in own if group[0].start >= span[1]]
        values_first = bool(_NUMBER.search(self.line, low, own[0][0].start))
        if behind and (values_first or not before):
            return behind[:1]
        main = [group for group in before if not self._is_aside(group)]
        return main[-1:] or before

    def _topic(self, groups: list[Group], span: tuple[int, int], is_named: bool) -> list[Group]:
        """Whom a clause without a name speaks of: who is named before it in the sentence, else whoever may be meant.

        Of a record that the line never names (`is_named` is false) another sentence says nothing.
        """
        start, end = span
        opened, closed = self._around(_FULL, start, end)
        main = [group for group in groups if not self._is_aside(group)]
        if before := [group for group in main if opened <= group[0].start < start]:
            if _IN_ORDER.search(self.line, before[-1][-1].end, end):
                return [[name for group in before for name in group]]
            low, high = self._clause(before[-1][0].start, before[-1][-1].end, groups)
            return [group for group in before if low <= group[0].start < high]
        behind = [g for g in groups if end <= g[0].start < closed and not self._is_aside(g, _COMPARED)][:1]
        goes_on = bool(behind) and self._goes_on(end, behind[0][0].start, groups)
        if goes_on or not is_named:
            return behind if goes_on else []
        earlier = [group for group in main if group[0].start < opened]
        if earlier:
            sentence, _ = self._around(_FULL, earlier[-1][0].start, earlier[-1][-1].end)
            earlier = [group for group in earlier if group[0].start >= sentence]
        return [*earlier, *behind]

    def _goes_on(self, end: int, start: int, groups: Sequence[Group]) -> bool:
        """Whether the clause of the name that begins at `start` goes on about what was said before it: its, 其."""
        low, _ = self._clause(start, start + 1, groups)
        return bool(_BACK.search(self.line, low, start)) or not _OTHER.search(self.line, end, low)

    def _shared(self, chosen: list[Group], start: int, end: int) -> Owners:
        """One of a list of names, where the values are a list as long (A and B sold 12 and 30); else all of them."""
        group = chosen[0]
        records = tuple(dict.fromkeys(name.record for name in group))
        if len(records) == 1 or any(one[1:] == other[1:] for one, other in pairwise(group)):
            return Owners(records)
        _, closed = self._around(_FULL, start, end)
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

    def _around(self, stop: re.Pattern[str], start: int, end: int) -> tuple[int, int]:
        behind = stop.search(self.line, end)
        return (
            max((found.end() for found in stop.finditer(self.line, 0, start)), default=0),
            behind.start() if behind else len(self.line),
        )

    def _is_aside(self, group: Group, pattern: re.Pattern[str] = _ASIDE) -> bool:
        return bool(pattern.search(self.line[max(0, group[0].start - _ASIDE_CHARS) : group[0].start]))


def _all(groups: list[Group]) -> Owners:
    return Owners(tuple(dict.fromkeys(name.record for group in groups for name in group)))


def _groups(line: str, names: Sequence[Name]) -> list[Group]:
    """Names that only `and` and commas part are one list; commas alone make none."""
    groups: list[Group] = []
    listed = True
    for name in names:
        between = line[groups[-1][-1].end : name.start] if groups else ""
        if (
            groups
            and groups[-1][-1].record == name.record
            and len(between) < _ASIDE_CHARS
            and not _CLAUSE.search(between)
        ):
            groups[-1].append(name)
            continue
        if groups and groups[-1][-1].start == name.start:
            groups[-1].append(name)
            continue
        comma = bool(_COMMA.fullmatch(between)) if groups else False
        if groups and (_AND.fullmatch(between) or comma):
            groups[-1].append(name)
            listed = not comma
            continue
        groups = [*groups[:-1], *(_parted(groups[-1], listed) if groups else []), [name]]
        listed = True
    return [*groups[:-1], *_parted(groups[-1], listed)] if groups else []


def _parted(group: Group, listed: bool) -> list[Group]:
    return [group] if listed else [[name] for name in group]


def naming(line: str, names: Sequence[Name]) -> Naming:
    """The line with its names in order; what begins within another name names nobody, and one name may be of several."""
    kept: list[Name] = []
    for name in sorted(names, key=lambda n: (n.start, -n.end, n.record)):
        if not kept or name.start >= kept[-1].end or name[1:] == kept[-1][1:]:
            kept.append(name)
    return Naming(line, tuple(kept))
