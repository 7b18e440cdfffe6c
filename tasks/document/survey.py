"""slices of a section + patterns so far → what a model should see next: texts whose words nothing explains yet."""

from __future__ import annotations

import asyncio

from tasks.core.learning import PatternSettings
from tasks.core.models.document import PlanSection, Slice
from tasks.core.models.patterns import Lesson, Pattern
from tasks.document.learning.clauses import marked
from tasks.document.learning.lessons import by_digest, telling
from tasks.document.learning.match import Matcher
from tasks.document.learning.own import Own, own_lines
from tasks.document.learning.record import read_record
from tasks.stage import stage


@stage()
async def survey_texts(
    section: PlanSection,
    slices: tuple[Slice, ...],
    held: tuple[str, ...],
    patterns: tuple[Pattern, ...],
    settings: PatternSettings,
) -> Lesson:
    """The lesson of the next round, from at most `survey` records of the section, none of those that are `held` back."""
    fit = [own for piece in slices for own in own_lines(piece, section) if not own.why and own.record not in set(held)]
    by_record = {own.record: own for own in fit}
    chosen = [by_record[record] for record in by_digest(list(by_record), "survey")[: settings.survey]]
    return await asyncio.to_thread(_survey, chosen, slices, patterns, settings)


def held_back(section: PlanSection, slices: tuple[Slice, ...], settings: PatternSettings) -> tuple[str, ...]:
    """Records that no lesson shows: the model's own reading of them judges the patterns."""
    fit = {own.record: None for piece in slices for own in own_lines(piece, section) if not own.why}
    return tuple(by_digest(list(fit), "sample")[: settings.sample])


def _survey(
    records: list[Own], slices: tuple[Slice, ...], patterns: tuple[Pattern, ...], settings: PatternSettings
) -> Lesson:
    columns, rules = (slices[0].columns, slices[0].rules) if slices else ((), "")
    if not patterns:
        texts = [line.line for own in records for _, line in own.lines]
        shown = tuple(telling(texts, settings.shown))
        return Lesson(columns=columns, rules=rules, texts=shown, surveyed=len(records), unexplained=len(records))
    matcher = Matcher(patterns, settings.seconds)
    outcomes = [read_record(own, columns, patterns, matcher) for own in records]
    sentences = dict.fromkeys(marked(line, span) for outcome in outcomes for line, span in outcome.open)
    return Lesson(
        columns=columns,
        rules=rules,
        texts=tuple(telling(list(sentences), settings.shown)),
        first=False,
        surveyed=len(records),
        unexplained=sum(bool(outcome.open) for outcome in outcomes),
    )
