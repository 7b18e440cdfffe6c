"""Sections + mentions → the sections with a border line moved where its records show on which side it belongs.

A plan drawn from a sample of a long document sees few border lines: off by one, it would hide one line's records from
the section that tells about them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from tasks.core.models.document import Mention, PlanSection

_MOST = 5
"""Lines that may change sides at one border; more is another plan, not a slip."""


def settle(sections: Sequence[PlanSection], mentions: Sequence[Mention]) -> tuple[PlanSection, ...]:
    """A line at a border goes to the other section when all its records stand elsewhere in its own, and not in the other."""
    named: dict[int, set[str]] = defaultdict(set)
    for mention in mentions:
        named[mention.line].add(mention.record_id)
    found = list(sections)
    order = sorted(range(len(found)), key=lambda at: found[at].start_line)
    for one, other in pairwise(order):
        for _ in range(_MOST):
            moved = _moved(found[one], found[other], named)
            if moved is None:
                break
            found[one], found[other] = moved
    return tuple(found)


def _moved(
    first: PlanSection, second: PlanSection, named: dict[int, set[str]]
) -> tuple[PlanSection, PlanSection] | None:
    """Both with one line changed over; None when none should."""
    ours, theirs = _lines(first, named), _lines(second, named)
    if first.end_line >= second.start_line or not ours or not theirs:
        return None
    if _is_strange(ours[-1], ours, theirs, named):
        ends, starts = ours[-1] - 1, ours[-1]
    elif _is_strange(theirs[0], theirs, ours, named):
        ends, starts = theirs[0], theirs[0] + 1
    else:
        return None
    return first.model_copy(update={"end_line": ends}), second.model_copy(update={"start_line": starts})


def _lines(section: PlanSection, named: dict[int, set[str]]) -> list[int]:
    return [line for line in sorted(named) if section.start_line <= line <= section.end_line]


def _is_strange(line: int, own: list[int], others: list[int], named: dict[int, set[str]]) -> bool:
    here = set().union(*(named[number] for number in own if number != line))
    there = set().union(*(named[number] for number in others))
    return named[line] <= here and not named[line] & there
