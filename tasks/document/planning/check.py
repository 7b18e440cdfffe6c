"""The model's plan against the text and the knowledge → all that is wrong with it, at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.core.models.document import ColumnRole, Mention, PlanColumn, PlanSection
from tasks.core.models.semantics import Knowledge
from tasks.document.planning import fields
from tasks.document.planning.reply import ColumnReply, PlanReply, SectionReply
from tasks.document.records import anchors as counting
from tasks.document.records.names import belonging

_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_SHOWN = 12
"""Names, ids or lines that one reason lists."""
_BARE_SHARE = 0.5
"""Content lines of a section that may name no record; continuation lines and remarks are usual, more is a wrong anchor."""


@dataclass(frozen=True)
class Checked:
    """A plan with its records counted, and what is wrong with it, in words for the model."""

    key: str
    columns: tuple[PlanColumn, ...]
    sections: tuple[PlanSection, ...]
    anchors: tuple[str, ...]
    mentions: tuple[Mention, ...]
    universe: tuple[str, ...]
    problems: tuple[str, ...]


def check(reply: PlanReply, stem: str, lines: Sequence[str], knowledge: Knowledge) -> Checked:
    """Count the plan's records in the text and look for every fault."""
    known = {column.name: column for column in fields.columns(stem, knowledge)}
    columns, faults = _columns(reply, known)
    sections = tuple(_section(section) for section in reply.sections)
    anchors = tuple(dict.fromkeys(anchor for anchor in reply.anchors if anchor.strip()))
    mentions, bad = counting.mentions(lines, anchors)
    ranges = [(section.start_line, section.end_line) for section in sections]
    checked = Checked(
        key=reply.key.strip(),
        columns=columns,
        sections=sections,
        anchors=anchors,
        mentions=mentions,
        universe=counting.universe(mentions, ranges),
        problems=(),
    )
    problems = (
        *_empty(checked),
        *faults,
        *_schema(checked, tuple(known)),
        *_ranges(checked, lines),
        *bad,
        *(_records(checked, reply) if anchors else ()),
    )
    return Checked(**{**checked.__dict__, "problems": tuple(dict.fromkeys(problems))})


def complaint(problems: Sequence[str]) -> str:
    """The turn that tells the model all of it."""
    told = "\n".join(f"- {problem}" for problem in problems)
    return f"Code checked this plan against the document and found:\n{told}\nReply with the complete corrected plan, as JSON only."


def _columns(reply: PlanReply, known: dict[str, PlanColumn]) -> tuple[tuple[PlanColumn, ...], list[str]]:
    """Columns in our words. Type and unit that the knowledge states hold, whatever the reply says."""
    made: dict[str, PlanColumn] = {}
    faults: list[str] = []
    names = {name.casefold(): name for name in known}
    for column in reply.columns:
        name = names.get(column.name.strip().casefold(), column.name.strip())
        if name in made:
            faults.append(f"column {name!r} stands twice in columns")
            continue
        if not (column.doc_meaning.strip() and column.task_meaning.strip()):
            faults.append(f"column {name!r} needs both a doc_meaning and a task_meaning")
        kind = fields.column_type(column.type)
        if kind is None:
            faults.append(
                f"column {name!r} has the type {column.type!r}; use text, integer, number, date, datetime, boolean or duration"
            )
        is_key = name == names.get(reply.key.strip().casefold(), reply.key.strip())
        stated = known.get(name)
        made[name] = PlanColumn(
            name=name,
            doc_meaning=column.doc_meaning.strip(),
            task_meaning=column.task_meaning.strip(),
            type="text" if is_key else stated.type if stated and stated.unit else kind or "text",
            unit=stated.unit if stated and stated.unit else column.unit.strip(),
            role="key" if is_key else _role(column),
        )
    return tuple(made.values()), faults


def _role(column: ColumnReply) -> ColumnRole:
    return "noise" if column.role.strip().lower() == "noise" else "data"


def _section(section: SectionReply) -> PlanSection:
    values = section.model_dump()
    columns = tuple(dict.fromkeys(name.strip() for name in values["columns"] if name.strip()))
    return PlanSection(**{**values, "id": values["id"].strip(), "columns": columns})


def _empty(plan: Checked) -> Iterator[str]:
    for part in ("columns", "sections", "anchors"):
        if not getattr(plan, part):
            yield f"{part} is empty"
    if not plan.key:
        yield "key is empty"


def _schema(plan: Checked, known: tuple[str, ...]) -> Iterator[str]:
    names = [column.name for column in plan.columns]
    if plan.key and plan.key not in names:
        yield f"the key {plan.key!r} is not among the columns"
    for name in names:
        if name not in known and not _SNAKE.fullmatch(name):
            yield f"column name {name!r} is neither snake_case nor a field of the knowledge"
    if missing := [name for name in known if name not in names]:
        yield f"the knowledge lists fields for this table that are not among the columns: {_some(missing)}"
    owners = Counter(name for section in plan.sections for name in section.columns if name != plan.key)
    for section in plan.sections:
        if not section.columns or section.columns[0] != plan.key:
            yield f"section {section.id!r} must have the key {plan.key!r} as its first column"
    if unknown := sorted(name for name in owners if name not in names):
        yield f"sections name columns that are not among the columns: {_some(unknown)}"
    if several := sorted(name for name, count in owners.items() if count > 1):
        yield f"columns that belong to more than one section, give each to the one that tells it: {_some(several)}"
    if unowned := [name for name in names if name != plan.key and name not in owners]:
        yield f"columns that belong to no section: {_some(unowned)}"


def _ranges(plan: Checked, lines: Sequence[str]) -> Iterator[str]:
    for id, count in Counter(section.id for section in plan.sections).items():
        if count > 1 or not id:
            yield f"section id {id!r} must be unique and not empty"
    everyone = {mention.record_id for mention in plan.mentions}
    for section in plan.sections:
        start, end = section.start_line, section.end_line
        where = f"section {section.id!r} ({start}–{end})"
        if start < 1 or end > len(lines) or start > end:
            yield f"{where}: lines must be in order and between 1 and {len(lines)}"
            continue
        inside = {m.record_id for m in plan.mentions if start <= m.line <= end}
        if plan.mentions and not inside:
            yield f"{where} holds no record: no anchor finds an id in it"
        elif len(everyone) > 1 and len(inside) == 1:
            yield f"{where} holds only record {min(inside)!r} of {len(everyone)}; a range goes from its first record to its last"
        yield from _bare(plan, lines, section, where)
    covered = set(plan.universe)
    outside = [record for record in dict.fromkeys(m.record_id for m in plan.mentions) if record not in covered]
    if outside:
        yield (
            f"{len(outside)} of {len(everyone)} ids are named only outside every section's range: {_some(outside)}; widen a "
            "range if they are records, leave them out if they are not"
        )


def _bare(plan: Checked, lines: Sequence[str], section: PlanSection, where: str) -> Iterator[str]:
    """Whether anchors miss too many lines. A line that shares a record's own words names it by its other name."""
    named = {m.line for m in plan.mentions if section.start_line <= m.line <= section.end_line}
    content = [n for n in range(section.start_line, section.end_line + 1) if _tells(lines[n - 1])]
    bare = [number for number in content if number not in named]
    if plan.mentions and len(content) > 3 and len(bare) > _BARE_SHARE * len(content):
        firsts = {mention.record_id: lines[mention.line - 1] for mention in reversed(plan.mentions)}
        known = belonging({number: lines[number - 1] for number in bare}, firsts.items())
        bare = [number for number in bare if number not in known]
    if plan.mentions and len(content) > 3 and len(bare) > _BARE_SHARE * len(content):
        yield (
            f"{where}: {len(bare)} of {len(content)} lines hold no id that an anchor finds, for example lines "
            f"{_some(bare, 5)}; add anchors for how ids are written there, if they are written there"
        )


def _records(plan: Checked, reply: PlanReply) -> Iterator[str]:
    counted = set(plan.universe)
    listed = [counting.plain(record) for record in reply.records if record.strip()]
    if doubles := [record for record, count in Counter(listed).items() if count > 1]:
        yield f"records lists ids twice: {_some(doubles)}"
    if not plan.mentions:
        yield "the anchors find no id in the text"
        return
    if unseen := [record for record in dict.fromkeys(listed) if record not in counted]:
        yield f"records lists ids that no anchor finds inside a section: {_some(unseen)}"
    if reply.records_complete and (unlisted := [record for record in plan.universe if record not in set(listed)]):
        yield f"the anchors find {len(unlisted)} ids that records does not list: {_some(unlisted)}; are they ids of records?"
    if not listed:
        yield "records is empty"


def _tells(line: str) -> bool:
    return len(line.strip()) > 1 and not line.lstrip().startswith("#")


def _some(names: Sequence[object], most: int = _SHOWN) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return f"{shown} … ({len(names)} in all)" if len(names) > most else shown
