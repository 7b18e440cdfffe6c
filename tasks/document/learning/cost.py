"""Slices → estimated tokens of reading them by the model, and of learning patterns for them: which way is chosen."""

from __future__ import annotations

from collections.abc import Sequence

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


def of_slices(slices: Sequence[Slice]) -> int:
    """Tokens of extracting these, prompts and replies."""
    return sum(tokens.count(follow.prompt(piece)) + _replied(piece) for piece in slices)


def of_round(slices: Sequence[Slice], settings: PatternSettings) -> int:
    """Tokens of one round of writing patterns."""
    texts = [text for piece in slices[:4] for _, text in piece.lines]
    each = sum(map(tokens.count, texts)) / max(1, len(texts))
    return round(_LESSON + settings.shown * each + _WROTE + _COLUMN * len(slices[0].columns)) if slices else 0


def is_cheaper(slices: Sequence[Slice], settings: PatternSettings) -> bool:
    """Whether patterns are chosen: enough records, and at most `share` of the tokens of slices by estimate."""
    records = sum(len(piece.expected) for piece in slices)
    if not settings.enabled or records < settings.records:
        return False
    whole = of_slices(slices)
    learned = 2 * of_round(slices, settings) + whole * min(1.0, settings.sample / records + _OPEN)
    return learned <= settings.share * whole


def is_worth_a_round(lesson: Lesson, slices: Sequence[Slice]) -> bool:
    """Whether what further patterns may settle is more than what writing them takes."""
    if not lesson.texts or not lesson.surveyed:
        return False
    taken = _LESSON + sum(tokens.count(text) + _TEXT for text in lesson.texts)
    return _HALF * of_slices(slices) * lesson.unexplained / lesson.surveyed > taken


def _replied(piece: Slice) -> int:
    return len(piece.expected) * (_ENTRY + _CELL * (len(piece.columns) - 1))
