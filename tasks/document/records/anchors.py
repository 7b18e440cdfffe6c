"""Lines and anchors → the records that each line names: counted by code, under a time limit for every pattern.

A model writes anchors, so each is foreign code for the regex engine: `regex` can be stopped, `re` cannot.
"""

from __future__ import annotations

import contextlib
import time
import unicodedata
from collections.abc import Iterable, Sequence

import regex

from tasks.core.models.document import Mention

SECONDS = 20.0
"""For one anchor over the whole text; the usual 10,000 records take below one second."""
_SEARCH_SECONDS = 1.0
_PATTERN_CHARS = 1000
_ID_CHARS = 80


def mentions(lines: Sequence[str], anchors: Iterable[str]) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """Records in the order of the text, one for each record and line, and what is wrong with anchors (one line each).

    Lines count from 1. An anchor that cannot be used finds nothing; what is too long for an id is none, and counted.
    """
    found: dict[tuple[int, int, str], None] = {}
    problems: list[str] = []
    for anchor in anchors:
        try:
            places = _places(lines, _compiled(anchor))
            found |= dict.fromkeys(place for place in places if len(place[2]) <= _ID_CHARS)
            if long := sum(len(record) > _ID_CHARS for _, _, record in places):
                problems.append(
                    f"anchor {anchor[:120]!r} finds {long} ids of more than {_ID_CHARS} characters, which are left out"
                )
        except (regex.error, ValueError) as error:
            problems.append(f"anchor {anchor[:120]!r} is not usable: {error}")
        except TimeoutError:
            problems.append(f"anchor {anchor[:120]!r} takes too long on this text; write it without nested repeats")
    named: dict[tuple[int, str], None] = {(line, record): None for line, _, record in sorted(found)}
    return tuple(Mention(record_id=record, line=line) for line, record in named), tuple(problems)


class Finder:
    """Finds where a line names records; anchors that cannot be used, and all once they took too long, find nothing."""

    def __init__(self, anchors: Iterable[str]) -> None:
        self._patterns: list[regex.Pattern[str]] = []
        for anchor in anchors:
            with contextlib.suppress(regex.error, ValueError, TimeoutError):
                self._patterns.append(_compiled(anchor))
        self._left = SECONDS

    def places(self, line: str) -> tuple[tuple[str, int, int], ...]:
        """Each named record with start and end of its id."""
        found: dict[tuple[str, int, int], None] = {}
        started = time.monotonic()
        for pattern in self._patterns if self._left > 0 else ():
            with contextlib.suppress(TimeoutError):
                for match in pattern.finditer(line, timeout=_SEARCH_SECONDS):
                    if record := plain(match[1] or ""):
                        found.setdefault((record, *match.span(1)))
        self._left -= time.monotonic() - started
        return tuple(sorted(found, key=lambda place: place[1:]))


def universe(found: Iterable[Mention], ranges: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Record ids in the order in which lines of these ranges (inclusive) first name them."""
    spans = list(ranges)
    return tuple(dict.fromkeys(m.record_id for m in found if any(a <= m.line <= b for a, b in spans)))


def plain(record: str) -> str:
    """A record's id in one form: full-width signs as plain ones, no space around; zeros and case stay."""
    return (record if record.isascii() else unicodedata.normalize("NFKC", record)).strip()


def one_width(records: Iterable[str]) -> tuple[str, ...]:
    """The records without those that are another in full-width signs; the first of each stays."""
    first: dict[str, str] = {}
    for record in records:
        first.setdefault(plain(record), record)
    return tuple(first.values())


def _compiled(anchor: str) -> regex.Pattern[str]:
    if len(anchor) > _PATTERN_CHARS:
        raise ValueError(f"it is longer than {_PATTERN_CHARS} characters")
    pattern = regex.compile(anchor, regex.V0)
    if pattern.groups != 1:
        raise ValueError(f"it has {pattern.groups} groups; exactly one must hold the id (others as (?:…))")
    if pattern.fullmatch("", timeout=_SEARCH_SECONDS):
        raise ValueError("it matches an empty text")
    return pattern


def _places(lines: Sequence[str], pattern: regex.Pattern[str]) -> list[tuple[int, int, str]]:
    """Line, position and id of every match. Raises TimeoutError."""
    found = []
    end = time.monotonic() + SECONDS
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        for match in pattern.finditer(line, timeout=_SEARCH_SECONDS):
            record = plain(match[1] or "")
            if record:
                found.append((number, match.start(1), record))
        if time.monotonic() > end:
            raise TimeoutError
    return found
