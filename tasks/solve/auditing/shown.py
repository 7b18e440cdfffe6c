"""parts of an audit → the lines in which a validator reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tasks.core.models.answer import Attempt, JoinAudit
from tasks.core.models.evidence import Checked
from tasks.core.models.review import EvidenceItem, EvidencePackage, Obligation
from tasks.core.models.value import Cell
from tasks.solve.compressing.extras import VIDEO
from tasks.solve.showing.layout import one_line

_SEEN = re.compile(r"\[(\d+:\d\d(?:\.\d)?) (?:slide|frame)\]")
_ROWS, _CELL_CHARS, _OMITTED = 5, 120, 40


def answer(checked: Checked, attempt: Attempt) -> str:
    """What is handed in: the query, and what its rows look like; five of them are a preview."""
    candidate = attempt.candidate
    if candidate is None:
        return "none"
    table = checked.table
    columns = table.columns if table else candidate.columns
    rows = table.rows if table else candidate.preview
    total = table.row_count if table else candidate.rows
    lines = [f"query:\n{candidate.submission.sql}"]
    if candidate.submission.program:
        lines.append(f"program over its rows:\n{candidate.submission.program}")
    if reason := one_line(candidate.submission.reason, _CELL_CHARS * 3):
        lines.append(f"the solver's own words, no evidence: {reason}")
    if attempt.agreement is not None:
        lines.append(f"{candidate.votes} of {attempt.samples} samples gave this result")
    lines.append(f"result: {len(columns)} columns, {total} rows")
    if len(columns) == 1 and total == 1 and rows:
        lines.append(f"its one value, {one_line(columns[0], _CELL_CHARS)}: {cell(rows[0][0])}")
    else:
        lines.append(" | ".join(one_line(name, _CELL_CHARS) for name in columns))
        lines += [" | ".join(map(cell, row)) for row in rows[:_ROWS]]
        lines += [f"… (the first {_ROWS} of {total} rows)"] * (total > _ROWS)
    return "\n".join(lines)


def measured(checked: Checked) -> Iterator[str]:
    """What code found out about the submission: replay, checks, joins."""
    replay = checked.replay
    if replay is not None:
        yield f"replay: {'equal to what the solver saw' if replay.equal else replay.error}"
    yield from (f"{check.name}, {check.outcome}: {one_line(check.detail, 300)}" for check in checked.checks)
    yield from map(_join, checked.joins)


def item(one: EvidenceItem) -> str:
    """An item with its id, what it can support, and how far it reaches."""
    asked = one.request.get("sql") or one.request
    request = asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False)
    about = one.source if one.tool == "profile" else f"{one.source}; asked: {request}"
    head = f"[{one.id}] {one.tool}; {', '.join(one.capabilities).replace('_', ' ')}; {one.status}: {one.locator}"
    head += ", values cut" if one.coverage.cut else ""
    return f"{head}\nof {about}\n{one.excerpt}"


def omitted(package: EvidencePackage) -> Iterator[str]:
    """What is in no item, counted by reason."""
    if package.omitted_by_reason:
        yield ", ".join(f"{count} {reason}" for reason, count in package.omitted_by_reason.items())
    yield from (f"{one.tool} of {one.source}: {one.reason}" for one in package.omitted[-_OMITTED:])


def duty(one: Obligation) -> str:
    """An action that was required, and what became of it."""
    proof = f" by {one.evidence}" if one.evidence else ""
    about = f" (about {', '.join(one.sources)})" if one.sources else ""
    return f"{one.status}{proof}: {one.text}{about}"


def video(brief: str) -> str:
    """What the solver was told of the videos; empty where there are none."""
    start = brief.find(VIDEO)
    return brief[start:].split("\n\n", 1)[0] if start >= 0 else ""


def seen(brief: str) -> set[str]:
    """Ids under which a claim may cite what a video shows: `video:1:05.0`, of slides and frames; speech is only heard."""
    return {f"video:{time}" for time in _SEEN.findall(video(brief))}


def cell(value: Cell) -> str:
    """One value on one line."""
    return "NULL" if value is None else one_line(str(value), _CELL_CHARS)


def _join(join: JoinAudit) -> str:
    head = f"join of {join.left} and {join.right} ({join.kind}) on {one_line(join.condition, 200)}"
    if join.problem:
        return f"{head}: not measured, {join.problem}"
    return (
        f"{head}: {join.left_rows} and {join.right_rows} rows give {join.joined_rows}; {join.left_unmatched} left and "
        f"{join.right_unmatched} right rows find no partner, {join.left_multiplied} left rows find several"
    )
