"""Findings of all slices → one cell for each record and column, with all that the text says about it in text order.

Nothing is overwritten: whether two statements contradict each other can only be said once both are read to the column's
unit (1.55% and 0.0155), so `conflict` here means "differs as written", and `tasks/document/storing/settle.py` decides.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tasks.core.models.document import Finding, Merged, MergedCell, Plan, SliceResult, Source, holding
from tasks.core.wording import counted
from tasks.document.records.anchors import one_width, plain
from tasks.stage import stage

_EXAMPLES = 3
_VALUES, _VALUE_CHARS = 12, 40
"""Values that are named one by one, and how much of each."""
_NOWHERE = "values stand in no statement of the text and were left out"
_NO_RECORD = "values belong to records that the document does not name"
_NO_COLUMN = "values belong to columns that the plan does not have"
_OF_ONE = {
    _NOWHERE: "value stands in no statement of the text and was left out",
    _NO_RECORD: "value belongs to a record that the document does not name",
    _NO_COLUMN: "value belongs to a column that the plan does not have",
}
"""The same, said of a single value."""


@stage()
async def merge_findings(plan: Plan, results: tuple[SliceResult, ...]) -> Merged:
    """Cells of the records of the plan's universe; the order of `results` does not matter.

    What is not merged (values that no statement of the text has, unknown records and columns) is counted in `problems`.
    """
    records = one_width(plan.universe)
    known = {plain(record): record for record in records}
    columns = {column.name for column in plan.columns}
    sources: dict[tuple[str, str], list[Source]] = defaultdict(list)
    left_out: Counter[tuple[str, str]] = Counter()
    for result in results:
        for finding in result.findings:
            record = known.get(plain(finding.record_id))
            if reason := _left_out(finding, record, columns):
                left_out[reason] += 1
            else:
                sources[record or "", finding.column].append(_source(finding, result.section))
    _add_mentions(plan, known, sources)
    good, problems = _sections(plan, results)
    return Merged(
        stem=plan.stem,
        records=records,
        cells=_cells(plan, records, sources),
        sections_good=good,
        sections_all=len(plan.sections),
        problems=(*problems, *_told(left_out), *_of_slices(results)),
        unread=tuple(sorted({(known.get(plain(r), r), result.section) for result in results for r in result.unlisted})),
        unasked=_unasked(plan, records, results),
        idle=tuple(s.id for s in plan.sections if s.id not in {result.section for result in results}),
        unfound=_unfound(known, columns, results),
    )


def raws_of(merged: Merged, column: str) -> tuple[str, ...]:
    """Distinct raw texts of a column, in the order of the cells: what `normalise_column` reads."""
    return tuple(dict.fromkeys(s.raw for cell in merged.cells if cell.column == column for s in cell.sources))


def _left_out(finding: Finding, record: str | None, columns: set[str]) -> tuple[str, str] | None:
    """Why a finding gives no value, and its name; None when it gives one."""
    value = " ".join(finding.raw[:_VALUE_CHARS].split())
    name = f"{finding.column} of {finding.record_id}: {value!r}"
    if not finding.found:
        return (_NOWHERE, name)
    if record is None:
        return (_NO_RECORD, name)
    if finding.column not in columns:
        return (_NO_COLUMN, name)
    return None


def _source(finding: Finding, section: str) -> Source:
    return Source(
        raw=finding.raw.strip(),
        quote=finding.quote,
        line=finding.line,
        section=section,
        corrects=finding.corrects,
        doubt=finding.doubt,
    )


def _unasked(plan: Plan, records: tuple[str, ...], results: tuple[SliceResult, ...]) -> tuple[tuple[str, str], ...]:
    """Records of which a section's slices asked nothing, for the sections that were asked about at all."""
    asked: dict[str, set[str]] = defaultdict(set)
    for result in results:
        asked[result.section].update(map(plain, (*result.listed, *result.unlisted)))
    return tuple((r, s.id) for s in plan.sections if s.id in asked for r in records if plain(r) not in asked[s.id])


def _unfound(
    known: dict[str, str], columns: set[str], results: tuple[SliceResult, ...]
) -> tuple[tuple[str, str, str], ...]:
    """What replies gave of known records and columns that no statement of the text has."""
    lost = (f for result in results for f in result.findings if not f.found and f.column in columns)
    return tuple(sorted({(known[plain(f.record_id)], f.column, f.raw) for f in lost if plain(f.record_id) in known}))


def _add_mentions(plan: Plan, known: dict[str, str], sources: dict[tuple[str, str], list[Source]]) -> None:
    """A record's key is where code found it; of many mentions the first is its place."""
    for mention in sorted(plan.mentions, key=lambda m: (m.line, m.record_id)):
        record = known.get(plain(mention.record_id))
        if record is not None and (record, plan.key) not in sources:
            section = next((s.id for s in plan.sections if s.start_line <= mention.line <= s.end_line), "")
            sources[record, plan.key] = [Source(raw=record, quote=record, line=mention.line, section=section)]


def _cells(
    plan: Plan, records: tuple[str, ...], sources: dict[tuple[str, str], list[Source]]
) -> tuple[MergedCell, ...]:
    """Cells in the order of records and columns."""
    made = []
    for record in records:
        for column in plan.columns:
            if found := sources.get((record, column.name)):
                said = _ordered(found)
                differ = column.name != plan.key and len(said) > 1 and len({s.raw for s in holding(said)}) > 1
                made.append(MergedCell(record_id=record, column=column.name, sources=said, conflict=differ))
    return tuple(made)


def _ordered(found: Sequence[Source]) -> tuple[Source, ...]:
    """In text order, each statement once: slices overlap, and one may have missed that it is a correction."""
    if len(found) == 1:
        return tuple(found)
    once: dict[tuple[int, str], Source] = {}
    for source in sorted(found, key=lambda s: (s.line, s.raw, not s.corrects, bool(s.doubt), s.quote, s.section)):
        once.setdefault((source.line, source.raw), source)
    return tuple(sorted(once.values(), key=lambda s: (s.line, s.corrects, s.raw)))


def _sections(plan: Plan, results: tuple[SliceResult, ...]) -> tuple[int, list[str]]:
    """How many of the plan's sections are good, and why each other is not."""
    by_section: dict[str, list[SliceResult]] = defaultdict(list)
    for result in results:
        by_section[result.section].append(result)
    good, problems = 0, []
    for section in plan.sections:
        of_it = by_section.pop(section.id, [])
        trouble = _trouble(of_it)
        good += not trouble
        if trouble:
            problems.append(f"section {section.id} ({section.title}): {trouble}")
    problems += [f"slices of section {name!r}, which the plan does not have" for name in sorted(by_section)]
    return good, problems


def _trouble(results: list[SliceResult]) -> str:
    if not results:
        return "nothing was extracted from it"
    parts = []
    if failed := sum(result.failed for result in results):
        parts.append(f"{failed} of {len(results)} slices failed")
    if unlisted := sorted({record for result in results for record in result.unlisted}):
        parts.append(f"{counted(len(unlisted), 'record')} not listed ({some(unlisted)})")
    return "; ".join(parts)


def _of_slices(results: tuple[SliceResult, ...]) -> tuple[str, ...]:
    """What the slices themselves say, equal lines once with their number."""
    said = Counter(f"section {r.section}: {problem}" for r in results for problem in dict.fromkeys(r.problems))
    return tuple(f"{line} ({count} slices)" if count > 1 else line for line, count in sorted(said.items()))


def _told(left_out: Counter[tuple[str, str]]) -> list[str]:
    """One line for each reason, with its count and the values; one that came several times stands once, with how often."""
    lines = []
    for reason in sorted({reason for reason, _ in left_out}):
        found = sorted((name, number) for (known, name), number in left_out.items() if known == reason)
        named = [f"{name} ({number} times)" if number > 1 else name for name, number in found]
        said = counted(sum(number for _, number in found), _OF_ONE[reason], reason)
        lines.append(f"{said} ({some(named, _VALUES)})")
    return lines


def some(names: Sequence[str], most: int = _EXAMPLES) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
