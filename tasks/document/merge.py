"""Findings of all slices → one cell for each record and column, with all that the text says about it in text order.

Nothing is overwritten: whether two statements contradict each other can only be said once both are read to the column's
unit (1.55% and 0.0155), so `conflict` here means "differs as written", and `tasks/document/storing/settle.py` decides.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import attrgetter

from tasks.core.collector import paused
from tasks.core.models.document import Finding, Merged, MergedCell, Plan, PlanSection, SliceResult, Source, holding
from tasks.core.wording import counted
from tasks.document.records.anchors import one_width, plain
from tasks.stage import stage

_Said = dict[str, dict[str, list[Source]]]
"""By record, then by column."""
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
    with paused():
        return _merged(plan, results)


def _merged(plan: Plan, results: tuple[SliceResult, ...]) -> Merged:
    records = one_width(plan.universe)
    known = {plain(record): record for record in records}
    columns = {column.name for column in plan.columns}
    said, left_out = _sort_out(known, columns, results)
    _add_mentions(plan, known, said)
    good, problems = _sections(plan, results)
    return Merged(
        stem=plan.stem,
        records=records,
        cells=_cells(plan, records, said),
        sections_good=good,
        sections_all=len(plan.sections),
        problems=(*problems, *_told(left_out), *_of_slices(results)),
        unread=tuple(sorted({(known.get(plain(r), r), result.section) for result in results for r in result.unlisted})),
        unasked=_unasked(plan, records, results),
        idle=_idle(plan, results),
        unfound=_unfound(known, columns, results),
    )


def _sort_out(
    known: dict[str, str], columns: set[str], results: tuple[SliceResult, ...]
) -> tuple[_Said, Counter[tuple[str, str]]]:
    """What is said of the known records and columns, and how often each value was left out for which reason."""
    said: _Said = {record: {} for record in known.values()}
    left_out: Counter[tuple[str, str]] = Counter()
    for result in results:
        section = result.section
        for finding in result.findings:
            record, column = known.get(plain(finding.record_id)), finding.column
            if record is None or not finding.found or column not in columns:
                left_out[_left_out(finding, record)] += 1
            else:
                said[record].setdefault(column, []).append(_source(finding, section))
    return said, left_out


def raws_of(merged: Merged, column: str) -> tuple[str, ...]:
    """Distinct raw texts of a column, in the order of the cells: what `normalise_column` reads."""
    return tuple(dict.fromkeys(s.raw for cell in merged.cells if cell.column == column for s in cell.sources))


def _left_out(finding: Finding, record: str | None) -> tuple[str, str]:
    """Why a finding gives no value, and its name."""
    value = " ".join(finding.raw[:_VALUE_CHARS].split())
    name = f"{finding.column} of {finding.record_id}: {value!r}"
    if not finding.found:
        return (_NOWHERE, name)
    return (_NO_RECORD if record is None else _NO_COLUMN, name)


def _source(finding: Finding, section: str) -> Source:
    return Source.trusted(
        {
            "raw": finding.raw.strip(),
            "quote": finding.quote,
            "line": finding.line,
            "section": section,
            "corrects": finding.corrects,
            "doubt": finding.doubt,
        }
    )


def _idle(plan: Plan, results: tuple[SliceResult, ...]) -> tuple[str, ...]:
    asked = {result.section for result in results}
    return tuple(section.id for section in plan.sections if section.id not in asked)


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


def _add_mentions(plan: Plan, known: dict[str, str], said: _Said) -> None:
    """A record's key is where code found it; of many mentions the first is its place."""
    for mention in sorted(plan.mentions, key=attrgetter("line", "record_id")):
        record = known.get(plain(mention.record_id))
        if record is not None and plan.key not in said[record]:
            said[record][plan.key] = [_place(record, mention.line, plan.sections)]


def _place(record: str, line: int, sections: tuple[PlanSection, ...]) -> Source:
    """A record's name, as a statement of the first section that holds its line."""
    section = ""
    for one in sections:
        if one.start_line <= line <= one.end_line:
            section = one.id
            break
    return Source.trusted(
        {"raw": record, "quote": record, "line": line, "section": section, "corrects": False, "doubt": ""}
    )


def _cells(plan: Plan, records: tuple[str, ...], said: _Said) -> tuple[MergedCell, ...]:
    """Cells in the order of records and columns."""
    made = []
    names = [column.name for column in plan.columns]
    for record in records:
        of_it = said[record]
        for name in names:
            if found := of_it.get(name):
                sources = _ordered(found)
                differ = name != plan.key and len(sources) > 1 and len({s.raw for s in holding(sources)}) > 1
                made.append(
                    MergedCell.trusted({"record_id": record, "column": name, "sources": sources, "conflict": differ})
                )
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
