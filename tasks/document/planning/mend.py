"""A checked plan with faults → a plan in which code has mended what needs no guess, or a failed one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tasks.core.models.document import Plan, PlanColumn, PlanSection
from tasks.core.models.semantics import Knowledge
from tasks.document.planning import discover, edges, fields
from tasks.document.planning.blocks import blocks
from tasks.document.planning.check import Checked
from tasks.document.records import anchors as counting

REST = "rest"
"""The section over all records for columns whose owner the plan leaves open."""


def mend(checked: Checked, stem: str, lines: Sequence[str], knowledge: Knowledge) -> Plan:
    """The plan as far as it can be used. Problems stay in it, so that nobody takes it for a clean one."""
    if not checked.problems:
        return _plan(checked, stem)
    key, columns = _key(checked), _named(checked, stem, knowledge)
    if not columns or key not in {column.name for column in columns}:
        return _plan(checked, stem).model_copy(update={"failed": True})
    columns = tuple(c.model_copy(update={"role": "key", "type": "text"}) if c.name == key else c for c in columns)
    columns = tuple(sorted(columns, key=lambda column: column.name != key))
    checked = replace(checked, key=key, columns=columns)
    checked = _counted(checked, lines)
    if not checked.mentions:
        return _plan(checked, stem).model_copy(update={"failed": True})
    checked = _owned(_ranged(checked, lines))
    ranges = [(section.start_line, section.end_line) for section in checked.sections]
    checked = replace(checked, universe=counting.universe(checked.mentions, ranges))
    return _plan(checked, stem).model_copy(update={"failed": not checked.universe})


def _plan(checked: Checked, stem: str) -> Plan:
    return Plan(
        stem=stem,
        key=checked.key,
        columns=tuple(sorted(checked.columns, key=lambda column: column.name != checked.key)),
        sections=edges.settle(checked.sections, checked.mentions),
        anchors=checked.anchors,
        universe=checked.universe,
        mentions=checked.mentions,
        problems=checked.problems,
    )


def _key(checked: Checked) -> str:
    """The named key, or the first column that all sections share."""
    firsts = {section.columns[0] for section in checked.sections if section.columns}
    names = {column.name for column in checked.columns}
    if checked.key in names or len(firsts) != 1:
        return _snake(checked.key) if checked.key in names else checked.key
    return firsts.pop()


def _named(checked: Checked, stem: str, knowledge: Knowledge) -> tuple[PlanColumn, ...]:
    """Columns with usable names and meanings, and those that the knowledge lists beside them."""
    known = {column.name: column for column in fields.columns(stem, knowledge)}
    made: dict[str, PlanColumn] = {}
    for column in checked.columns:
        name = column.name if column.name in known else _snake(column.name)
        meaning = column.task_meaning or column.doc_meaning or (known[name].task_meaning if name in known else name)
        update = {"name": name, "doc_meaning": column.doc_meaning or meaning, "task_meaning": meaning}
        if name:
            made.setdefault(name, column.model_copy(update=update))
    for name, column in known.items():
        made.setdefault(name, column.model_copy(update={"role": "data"}))
    return tuple(made.values())


def _counted(checked: Checked, lines: Sequence[str]) -> Checked:
    """With anchors that code finds, where those of the plan find nothing."""
    if checked.mentions:
        return checked
    key = next(column for column in checked.columns if column.name == checked.key)
    patterns = discover.anchors(lines, f"{key.name} {key.doc_meaning}")
    mentions, _ = counting.mentions(lines, patterns)
    note = (f"{len(patterns)} anchors found by code in place of the plan's",) if mentions else ()
    return replace(checked, anchors=patterns or checked.anchors, mentions=mentions, problems=checked.problems + note)


def _ranged(checked: Checked, lines: Sequence[str]) -> Checked:
    """Sections with unique ids and ranges inside the text; one that ends too early goes on to the next one's start."""
    starts = sorted({max(1, section.start_line) for section in checked.sections})
    last = max(mention.line for mention in checked.mentions)
    found = blocks(lines, checked.mentions)
    stop = found[-1].end if found else last
    everyone = len({mention.record_id for mention in checked.mentions})
    made: list[PlanSection] = []
    for index, section in enumerate(checked.sections, start=1):
        start, end = sorted((max(1, section.start_line), max(1, section.end_line)))
        end = min(end, len(lines))
        inside = {m.record_id for m in checked.mentions if start <= m.line <= end}
        if len(inside) <= 1 < everyone:
            following = next((other for other in starts if other > start), None)
            end = max(end, following - 1 if following else stop)
        if start <= len(lines):
            id = section.id if section.id and section.id not in {s.id for s in made} else f"{section.id or 's'}_{index}"
            made.append(section.model_copy(update={"id": id, "start_line": start, "end_line": end}))
    return replace(checked, sections=tuple(made))


def _owned(checked: Checked) -> Checked:
    """Every column in one section: open or contested ones in a section of their own over all records."""
    names = {column.name for column in checked.columns} - {checked.key}
    renamed = [[_match(name, names) for name in section.columns] for section in checked.sections]
    owners = Counter(name for found in renamed for name in set(found) if name)
    sections = []
    for section, found in zip(checked.sections, renamed, strict=True):
        own = tuple(dict.fromkeys(name for name in found if name and owners[name] == 1))
        if own:
            sections.append(section.model_copy(update={"columns": (checked.key, *own)}))
    owned = {name for section in sections for name in section.columns}
    rest = tuple(column.name for column in checked.columns if column.name in names and column.name not in owned)
    if rest and len(checked.sections) == 1:
        section = checked.sections[0]
        own = tuple(name for name in (sections[0].columns[1:] if sections else ()))
        sections = [section.model_copy(update={"columns": (checked.key, *own, *rest)})]
    elif rest:
        start, end = _everywhere(checked)
        taken = {section.id for section in sections}
        id = REST if REST not in taken else f"{REST}_{len(sections)}"
        sections.append(
            PlanSection(id=id, title="all records", start_line=start, end_line=end, columns=(checked.key, *rest))
        )
    return replace(checked, sections=tuple(sections))


def _everywhere(checked: Checked) -> tuple[int, int]:
    if checked.sections:
        return min(s.start_line for s in checked.sections), max(s.end_line for s in checked.sections)
    return min(m.line for m in checked.mentions), max(m.line for m in checked.mentions)


def _match(name: str, names: set[str]) -> str:
    return name if name in names else _snake(name) if _snake(name) in names else ""


def _snake(name: str) -> str:
    """A name in snake_case; one in another script keeps its letters."""
    plain = unicodedata.normalize("NFKC", name).strip()
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    return re.sub(r"\W+", "_", parts).strip("_").lower()
