"""Patterns + a line → where they match: each is foreign code for the regex engine, so each can be stopped and refused.

Each sentence is searched by itself: what stands in two sentences is two statements, whatever an expression would take.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from tasks.core.models.patterns import Pattern
from tasks.document.learning.clauses import sentences

_CHARS = 600
_ONE_SECONDS = 0.5
"""For one pattern on one sentence, by the wall clock: a usual one takes some microseconds, on a busy machine too."""
_LONGEST = 160
_EDGE = " \t\u3000,.;:，。；：、"
SAMPLES = ("", " ", "0", "a", "一")
"""What a pattern that says anything does not match as a whole."""


class Match(NamedTuple):
    """Where a pattern matches in a line."""

    pattern: int
    start: int
    end: int
    value: tuple[int, int]
    """Of a value pattern its group, without space and marks around it; else equal to start and end."""


class Matcher:
    """Runs patterns; one that cannot be used, or that took too long, finds nothing any more and is told in `refused`."""

    def __init__(self, patterns: Sequence[Pattern], seconds: float) -> None:
        self.refused: dict[int, str] = {}
        self._compiled: dict[int, regex.Pattern[str]] = {}
        self._left = dict.fromkeys(range(len(patterns)), seconds)
        for at, pattern in enumerate(patterns):
            try:
                self._compiled[at] = compiled(pattern)
            except (regex.error, ValueError) as error:
                self.refused[at] = str(error)
            except TimeoutError:
                self.refused[at] = "it takes too long"

    def matches(self, line: str) -> list[Match]:
        """All matches in the line, pattern by pattern."""
        found: list[Match] = []
        parts = [(start, line[start:end]) for start, end in sentences(line)]
        for at in list(self._compiled):
            started = time.thread_time()
            try:
                found += self._of(at, line, parts)
            except TimeoutError:
                self._refuse(at, "it takes too long on a line; nested repeats do")
                found = [match for match in found if match.pattern != at]
                continue
            self._left[at] -= time.thread_time() - started
            if self._left[at] < 0:
                self._refuse(at, "it takes too long on this text")
        return found

    def _refuse(self, at: int, why: str) -> None:
        self.refused[at] = why
        del self._compiled[at]

    def _of(self, at: int, line: str, parts: list[tuple[int, str]]) -> Iterator[Match]:
        pattern = self._compiled[at]
        valued = "value" in pattern.groupindex
        for first, text in parts:
            for match in pattern.finditer(text, timeout=_ONE_SECONDS):
                start, end = (first + place for place in match.span())
                low, high = (first + place for place in match.span("value")) if valued else (start, end)
                value = _trimmed(line, low, high) if valued else (start, end)
                if value[0] < value[1] and end - start <= _LONGEST:
                    yield Match(at, start, end, value)


def compiled(pattern: Pattern) -> regex.Pattern[str]:
    """The pattern, ready to run. Raises ValueError with what is wrong, regex.error, TimeoutError."""
    if len(pattern.text) > _CHARS:
        raise ValueError(f"it is longer than {_CHARS} characters")
    made = regex.compile(pattern.text, regex.V0)
    named = set(made.groupindex)
    if pattern.kind == "value" and named != {"value"}:
        raise ValueError("it needs exactly one named group, (?P<value>…), around the value")
    if pattern.kind != "value" and named:
        raise ValueError("it finds no value, so that it must have no named group")
    if any(made.fullmatch(text, timeout=_ONE_SECONDS) for text in SAMPLES):
        raise ValueError("it matches any text")
    return made


def _trimmed(line: str, start: int, end: int) -> tuple[int, int]:
    while start < end and line[start] in _EDGE:
        start += 1
    while end > start and line[end - 1] in _EDGE:
        end -= 1
    return start, end
