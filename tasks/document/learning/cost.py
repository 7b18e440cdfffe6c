"""Slices → estimated tokens of reading them by the model, and of learning patterns for them: which way is chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tasks.core.learning import PatternSettings
from tasks.core.llm import tokens
from tasks.core.models.document import Slice
from tasks.core.models.patterns import Lesson
from tasks.document.extracting import follow

_ENTRY, _CELL = 14, 14
"""Tokens of a reply for a record, and for each of its cells."""
_WROTE, _COLUMN = 400, 160
"""Tokens of a reply with patterns: in all, and for each column."""
_OPEN = 0.06
"""Share of the records that patterns are taken to leave to the model."""
_HALF = 0.5
"""Share of what a further round could settle that it is taken to settle."""
_LESSON = 900
"""Tokens of the instructions for patterns."""
_TEXT = 40
"""Tokens of what is written for a sentence of a later round."""
_ROUNDS, _PACKS = 2, 3
"""Calls that patterns take at least: rounds of writing, and the sample, what differs in it, and what is left."""


class Taken(NamedTuple):
    """Calls, and tokens of their prompts and of their replies."""

    calls: int
    sent: int
    back: int

    @property
    def tokens(self) -> int:
        """Both ways."""
        return self.sent + self.back


def of_slices(slices: Sequence[Slice]) -> Taken:
    """What extracting these takes."""
    sent = sum(tokens.count(follow.prompt(piece)) for piece in slices)
    return Taken(len(slices), sent, sum(map(_replied, slices)))


def of_round(slices: Sequence[Slice], settings: PatternSettings) -> Taken:
    """What one round of writing patterns takes."""
    texts = [text for piece in slices[:4] for _, text in piece.lines]
    each = sum(map(tokens.count, texts)) / max(1, len(texts))
    columns = len(slices[0].columns) if slices else 0
    return Taken(1, round(_LESSON + settings.shown * each), _WROTE + _COLUMN * columns)


def of_patterns(slices: Sequence[Slice], whole: Taken, settings: PatternSettings) -> tuple[Taken, Taken]:
    """What writing patterns takes, and what the model's reading beside them does; `whole` is what slices would take."""
    once = of_round(slices, settings)
    share = min(1.0, settings.sample / max(1, records(slices)) + _OPEN)
    calls = max(_PACKS, math.ceil(share * whole.calls))
    written = Taken(_ROUNDS, _ROUNDS * once.sent, _ROUNDS * once.back)
    return written, Taken(calls, round(share * whole.sent), round(share * whole.back))


def records(slices: Sequence[Slice]) -> int:
    """How many they are of."""
    return sum(len(piece.expected) for piece in slices)


def is_cheaper(slices: Sequence[Slice], settings: PatternSettings) -> bool:
    """Whether patterns are chosen: enough records, and at most `share` of the tokens of slices by estimate."""
    if not settings.enabled or records(slices) < settings.records:
        return False
    whole = of_slices(slices)
    return sum(part.tokens for part in of_patterns(slices, whole, settings)) <= settings.share * whole.tokens


def is_worth_a_round(lesson: Lesson, slices: Sequence[Slice]) -> bool:
    """Whether what further patterns may settle is more than what writing them takes."""
    if not lesson.texts or not lesson.surveyed:
        return False
    taken = _LESSON + sum(tokens.count(text) + _TEXT for text in lesson.texts)
    return _HALF * of_slices(slices).tokens * lesson.unexplained / lesson.surveyed > taken


def _replied(piece: Slice) -> int:
    return len(piece.expected) * (_ENTRY + _CELL * (len(piece.columns) - 1))
