"""document + plan + knowledge → slices: for some records of one section, every line that may speak of them.

A slice must not change when something else does. So cuts follow the record ids, numbers count within the slice, and
the lines of the document stand beside it, outside of its key.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

from tasks.core.files import store as stores
from tasks.core.llm import tokens
from tasks.core.models.document import Converted, Plan, PlanSection, Slice
from tasks.core.models.semantics import Knowledge
from tasks.core.sections import ExtractSettings
from tasks.document.planning.fields import speaks_of, within
from tasks.document.records.corrections import corrects
from tasks.document.slicing.chunks import chunks
from tasks.document.slicing.text import HEADING, Text
from tasks.stage import stage

_FOLLOWING = 3
"""Lines without any record's name that may go on with the record before them."""
_RULE_CHARS = 800
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_/-]*")


@stage()
async def cut_slices(
    document: Converted, plan: Plan, knowledge: Knowledge, settings: ExtractSettings
) -> tuple[Slice, ...]:
    """Slices section by section, in text order. A record of which a section says nothing is in none of its slices."""
    if document.text is None or plan.failed:
        return ()
    text = Text(stores.current().get(document.text).decode("utf-8").split("\n"), plan, settings)
    return tuple(
        piece
        for section in plan.sections
        for piece in _section(text, section, plan, _rules(knowledge, section), settings)
    )


def _section(text: Text, section: PlanSection, plan: Plan, rules: str, settings: ExtractSettings) -> list[Slice]:
    lines = _lines(text, section, plan)
    first = {record: min(numbers) for record, numbers in lines.items()}
    rank = {record: at for at, record in enumerate(text.records)}
    records = sorted(lines, key=lambda record: (first[record], rank[record]))
    sizes = {number: tokens.count(text.text(number)) for numbers in lines.values() for number in numbers}
    joined = frozenset(at for at in range(1, len(records)) if first[records[at]] == first[records[at - 1]])

    def fits(run: list[int]) -> bool:
        return sum(sizes[n] for n in {n for at in run for n in lines[records[at]]}) <= settings.tokens

    columns = tuple(plan.column(name) for name in section.columns)
    empty = Slice(section=section.id, columns=columns, key=plan.key, lines=(), expected=(), rules=rules)
    return [
        _slice(text, empty, {records[at]: lines[records[at]] for at in run})
        for run in chunks(records, settings.records, joined, fits)
    ]


def _lines(text: Text, section: PlanSection, plan: Plan) -> dict[str, set[int]]:
    """For each wanted record the lines that may say something about it in the section's columns."""
    wanted = set(text.records)
    found: dict[str, set[int]] = defaultdict(set)
    named: set[str] = set()
    last: tuple[str, ...] = ()
    silent = 0
    for number in range(max(1, section.start_line), min(section.end_line, len(text.lines)) + 1):
        line = text.text(number)
        if not line.strip():
            continue
        if HEADING.match(line) and number not in text.named:
            last = ()
            continue
        records = text.of(number)
        if number in text.named:
            last, silent = records, 0
            if not corrects(line):
                named |= set(records)
        elif records:
            silent += 1
            if not text.alike[number].sure and silent <= _FOLLOWING:
                records = (*last, *records)
        else:
            silent += 1
            records = last if silent <= _FOLLOWING else ()
        for record in records:
            if record in wanted:
                found[record].add(number)
    if not found:
        return {}
    for record, numbers in _hidden(text, section, wanted - named).items():
        found[record] |= numbers
    for number in _elsewhere(text, section, plan):
        for record in text.of(number):
            if record in wanted:
                found[record].add(number)
    return dict(found)


def _hidden(text: Text, section: PlanSection, lost: set[str]) -> dict[str, set[int]]:
    """Lines for records that no line of the section names as the anchors know it: by the bare id, or by other names."""
    found: dict[str, set[int]] = defaultdict(set)
    for number in range(max(1, section.start_line), min(section.end_line, len(text.lines)) + 1) if lost else ():
        beside = text.beside.get(number)
        for record in lost.intersection(beside.records if beside else ()):
            found[record].add(number)
        if number not in text.named:
            for record in lost & set(_TOKEN.findall(text.text(number))):
                found[record].add(number)
    return found


def _elsewhere(text: Text, section: PlanSection, plan: Plan) -> list[int]:
    """Lines outside of the section that may correct it, and lines of no section that speak of records."""
    spans = sorted((s.start_line, s.end_line) for s in plan.sections)
    starts = [start for start, _ in spans]

    def nowhere(number: int) -> bool:
        at = bisect_right(starts, number) - 1
        return at < 0 or number > spans[at][1]

    return [
        number
        for number in sorted({*text.named, *text.alike})
        if not section.start_line <= number <= section.end_line
        and ((number > starts[0] and nowhere(number)) or corrects(text.text(number)))
    ]


def _slice(text: Text, empty: Slice, lines: dict[str, set[int]]) -> Slice:
    """The empty slice of the section with these records and their lines."""
    numbers = sorted({number for own in lines.values() for number in own})
    within = {number: at for at, number in enumerate(numbers, start=1)}
    return empty.model_copy(
        update={
            "lines": tuple((within[number], text.text(number)) for number in numbers),
            "expected": tuple(lines),
            "belongs": tuple((record, tuple(within[n] for n in sorted(own))) for record, own in lines.items()),
            "called": tuple((record, name) for record, own in lines.items() if (name := text.called(record, own))),
            "named": tuple((within[n], named) for n in numbers if (named := text.finder.places(text.text(n)))),
            "alike": tuple((within[n], tuple(text.alike[n].records)) for n in numbers if n in text.alike),
            "corrects": tuple(within[n] for n in numbers if n in text.mended),
            "places": tuple(numbers),
        }
    )


def _rules(knowledge: Knowledge, section: PlanSection) -> str:
    """Conventions of the knowledge that name one of the section's columns, in its order, within a budget."""
    texts = (rule.text.strip() for rule in knowledge.rules)
    return within((t for t in texts if any(speaks_of(t, name) for name in section.columns[1:])), _RULE_CHARS)
