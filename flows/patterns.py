"""slices of a document → results: read by the model slice by slice, or, where many records are told alike, by patterns that it wrote."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from flows.running.share import EXTRACTED, Share
from tasks.core import timeline
from tasks.core.models.document import Plan, PlanSection, Slice, SliceResult
from tasks.core.models.patterns import Extracted, Learned, Pattern
from tasks.core.models.run import Usage
from tasks.core.settings import Settings
from tasks.document.extract import extract_slice
from tasks.document.learn import learn_patterns
from tasks.document.learning import cost, judge, settle
from tasks.document.learning.pack import pack
from tasks.document.match import match_patterns
from tasks.document.survey import held_back, survey_texts


class _Written(NamedTuple):
    """Patterns of all rounds."""

    patterns: tuple[Pattern, ...]
    usage: Usage
    problems: tuple[str, ...]


async def extract(plan: Plan, slices: tuple[Slice, ...], settings: Settings, share: Share) -> Extracted:
    """What all slices give, each section read in the way that is estimated to be cheaper; `share` grows with each."""
    by_section: dict[str, list[Slice]] = defaultdict(list)
    for piece in slices:
        by_section[piece.section].append(piece)
    sections = {section.id: section for section in plan.sections}
    order = sorted(by_section, key=lambda name: -max(map(_cells, by_section[name])))
    reading = (
        share.after(
            _section(sections[name], tuple(by_section[name]), settings), EXTRACTED * len(by_section[name]) / len(slices)
        )
        for name in order
    )
    done = dict(zip(order, await asyncio.gather(*map(timeline.branch, reading)), strict=True))
    parts = [done[name] for name in by_section]
    return Extracted(
        results=tuple(result for part in parts for result in part.results),
        patterns=sum((part.patterns for part in parts), Usage()),
    )


async def _section(section: PlanSection, slices: tuple[Slice, ...], settings: Settings) -> Extracted:
    if not cost.is_cheaper(slices, settings.patterns):
        return Extracted(results=await _model(slices, settings))
    held = held_back(section, slices, settings.patterns)
    columns = slices[0].columns
    written, sampled = await asyncio.gather(
        _write(section, slices, held, settings),
        _read(slices, dict.fromkeys(held), (), settings),
    )
    read = await match_patterns(section, slices, written.patterns, settings.patterns)
    further = tuple(judge.more(read, held, settings.patterns.sample))
    sampled += await _read(slices, dict.fromkeys(further), (), settings)
    sample, data = (*held, *further), columns[1:]
    first = judge.said(settle.findings_of(sampled), data)
    cells = judge.disputed(read, sample, first, data)
    again = await _read(slices, dict.fromkeys(r for r, _ in cells), tuple(name for _, name in cells), settings)
    judged = judge.judge(read, sample, (first, judge.said(settle.findings_of(again), data)), data, settings.patterns)
    parts = settle.settle(read, judged, sample, [column.name for column in data])
    rest, remarks, refused = await asyncio.gather(
        _read(slices, dict.fromkeys(record for record, _ in parts.rest), (), settings),
        _read(slices, parts.remarks, (), settings),
        _read(slices, dict.fromkeys(r.record_id for r in parts.kept) if parts.refused else {}, parts.refused, settings),
    )
    told = (*settle.told(parts, judged, len(sample), len(written.patterns)), *read.refused, *written.problems)
    paid = sum((one.usage for one in again), Usage())
    own = settle.result(section.id, parts, told).model_copy(update={"usage": paid})
    results = (own, *settle.corrected(sampled, read, judged), *rest, *remarks, *refused)
    return Extracted(results=results, patterns=written.usage)


async def _write(
    section: PlanSection, slices: tuple[Slice, ...], held: tuple[str, ...], settings: Settings
) -> _Written:
    """Rounds of showing and writing, while the next is worth its tokens."""
    chosen = settings.patterns
    rounds: list[Learned] = []
    patterns: tuple[Pattern, ...] = ()
    lesson = await survey_texts(section, slices, held, patterns, chosen)
    while lesson.texts and len(rounds) < chosen.rounds:
        rounds.append(await learn_patterns(lesson))
        patterns = tuple(dict.fromkeys((*patterns, *rounds[-1].patterns)))
        before, lesson = lesson, await survey_texts(section, slices, held, patterns, chosen)
        if lesson.unexplained >= before.unexplained or not cost.is_worth_a_round(lesson, slices):
            break
    usage = sum((one.usage for one in rounds), Usage())
    return _Written(patterns, usage, tuple(problem for one in rounds for problem in one.problems))


async def _read(
    slices: tuple[Slice, ...], wanted: Mapping[str, tuple[int, ...] | None], names: Sequence[str], settings: Settings
) -> tuple[SliceResult, ...]:
    """Some records, by the model: for these columns, or for all of them."""
    if not wanted:
        return ()
    columns = tuple(c for at, c in enumerate(slices[0].columns) if not at or not names or c.name in names)
    return await _model(pack(slices, wanted, columns, settings.extract), settings)


async def _model(slices: Sequence[Slice], settings: Settings) -> tuple[SliceResult, ...]:
    """All at once; those with most to write stand in line first, so that none begins when the others are done."""
    order = sorted(range(len(slices)), key=lambda at: -_cells(slices[at]))
    results = await asyncio.gather(*(extract_slice(slices[at], settings.extract) for at in order))
    return tuple(result for _, result in sorted(zip(order, results, strict=True), key=itemgetter(0)))


def _cells(piece: Slice) -> int:
    """Most cells that its reply may have."""
    return len(piece.expected) * len(piece.columns)
