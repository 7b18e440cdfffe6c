"""Pattern of one mark + line → where it stops around a place, without reading the line again for each place."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

_NEAR = 64
"""Characters before a place that are looked at anew: what a mark means there may depend on the line ending at the place."""


class Stops:
    """The places of a pattern that matches one character, as of a sentence's end."""

    def __init__(self, pattern: re.Pattern[str], line: str) -> None:
        self._pattern, self._line = pattern, line

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        found = [match.span() for match in self._pattern.finditer(self._line)]
        return [first for first, _ in found], [last for _, last in found]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Where the part that holds the span begins and ends, without the marks: those of the line where none stands there."""
        firsts, lasts = self._spans
        near = [match.end() for match in self._pattern.finditer(self._line, max(0, start - _NEAR), start)]
        before = 0 if near else bisect_right(lasts, start - _NEAR)
        behind = bisect_left(firsts, end)
        return (
            near[-1] if near else lasts[before - 1] if before else 0,
            firsts[behind] if behind < len(firsts) else len(self._line),
        )
