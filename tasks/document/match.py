"""slices of a section + patterns → records that patterns read as a whole, and those that the model must read, and why."""

from __future__ import annotations

import asyncio

from tasks.core.learning import PatternSettings
from tasks.core.models.document import PlanSection, Slice
from tasks.core.models.patterns import Pattern, PatternRead
from tasks.document.learning.match import Matcher
from tasks.document.learning.own import own_lines
from tasks.document.learning.record import read_record
from tasks.stage import stage

_CHARS = 120


@stage()
async def match_patterns(
    section: PlanSection, slices: tuple[Slice, ...], patterns: tuple[Pattern, ...], settings: PatternSettings
) -> PatternRead:
    """Each record of the slices either settled or in `rest`; no pattern sees more than one line of one record."""
    return await asyncio.to_thread(_matched, section, slices, patterns, settings)


def _matched(
    section: PlanSection, slices: tuple[Slice, ...], patterns: tuple[Pattern, ...], settings: PatternSettings
) -> PatternRead:
    matcher = Matcher(patterns, settings.seconds)
    records, rest, remarks = [], [], []
    for piece in slices:
        for own in own_lines(piece, section):
            outcome = None if own.why else read_record(own, piece.columns, patterns, matcher)
            if outcome is None or outcome.record is None:
                rest.append((own.record, outcome.why if outcome else own.why))
                continue
            records.append(outcome.record)
            if own.remarks:
                remarks.append((own.record, own.remarks))
    late = set(matcher.refused)
    return PatternRead(
        records=tuple(r for r in records if not late & {cell.pattern for cell in r.cells}),
        rest=(
            *rest,
            *((r.record_id, "a pattern of it was stopped") for r in records if late & {c.pattern for c in r.cells}),
        ),
        remarks=tuple(remarks),
        refused=tuple(f"pattern {patterns[at].text[:_CHARS]!r}: {why}" for at, why in sorted(matcher.refused.items())),
    )
