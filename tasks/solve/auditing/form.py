"""checked answer → what the validator of its form is shown, and what it may say: form alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, StrictBool, StrictStr

from tasks.core.llm import structured
from tasks.core.llm.prompts import fence, fill
from tasks.core.llm.structured import Invalid
from tasks.core.models.answer import AnswerTable, Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit, Verdict
from tasks.core.models.value import Cell
from tasks.solve.auditing import shown
from tasks.solve.auditing.request import numbered_knowledge
from tasks.solve.showing.contract import contract_text
from tasks.solve.showing.layout import one_line

ROLE = "verify"
PROMPT = Path(__file__).parents[1] / "prompts" / "verify.md"
KNOWLEDGE_CHARS = (8000, 2000, 500)
"""Signs of the knowledge, fewer for a model that reads less."""
_CHARS, _ISSUES = 400, 6
_COLUMNS = 60
"""Columns that are described one by one."""
_EDGE, _SPREAD = 3, 4
"""Examples of a column: the first and last different values, and some spread between them."""


class FormIssue(BaseModel):
    """What to change in the form."""

    kind: Literal["columns", "rows", "duplicates", "order", "limit", "format"]
    text: StrictStr


class FormReply(BaseModel):
    """The issues first, the verdict last."""

    issues: list[FormIssue]
    valid: StrictBool


@dataclass(frozen=True)
class FormJudged:
    """A reply, read."""

    verdict: Verdict
    issues: tuple[str, ...] = ()


def read(text: str) -> FormJudged:
    """The verdict. Raises Invalid for what is no such reply, and for one that contradicts itself."""
    reply = structured.parse(text, FormReply)
    issues = tuple(f"{issue.kind}: {one_line(issue.text, _CHARS)}" for issue in reply.issues if issue.text.strip())
    if reply.valid and issues:
        raise Invalid("`valid` is true, but there are issues: give none, or make `valid` false.")
    if not reply.valid and not issues:
        raise Invalid("`valid` is false, but no issue says why.")
    return FormJudged("approved") if reply.valid else FormJudged("rejected", issues[:_ISSUES])


def request(given: Assignment, attempt: Attempt, checked: Checked, audit: Audit, chars: int) -> str:
    """The prompt. `audit` is the approval of the process, `chars` how much of the knowledge is in it."""
    candidate = attempt.candidate
    assert candidate is not None and checked.table is not None
    submission = candidate.submission
    program = f"\nprogram over its rows:\n{submission.program}" if submission.program else ""
    named = f"\nnames given to its columns: {', '.join(submission.columns)}" if submission.columns else ""
    earlier = [issue for one in given.audits if one.kind == "answer" for issue in one.issues]
    settled = [audit.ledger.intent_summary, *(claim.text for claim in audit.ledger.verified_claims)]
    return fill(
        PROMPT,
        question=fence(given.question.text),
        contract=fence(contract_text(attempt.contract) or "open"),
        knowledge=fence(numbered_knowledge(given, chars) or "none"),
        submission=fence(f"{submission.sql}{program}{named}"),
        result=fence("\n".join(_result(checked.table, checked))),
        settled=fence("\n".join(text for text in settled if text) or "that the rows are the right ones"),
        earlier=fence("\n".join(earlier) or "nothing: this is the first"),
    )


def _result(table: AnswerTable, checked: Checked) -> Iterator[str]:
    """Columns with types and examples, counts, repeated rows, the first rows, and what else code noted."""
    rows = table.rows
    whole = len(rows) == table.row_count
    yield f"{len(table.columns)} columns, {table.row_count} rows" + (
        "" if whole else f"; {len(rows)} of them looked at"
    )
    repeated = len(rows) - len(set(rows))
    yield f"rows that repeat an earlier one: {repeated}"
    yield f"the query fixes their order: {'yes' if checked.outline.ordered else 'no'}"
    for at, name in enumerate(table.columns[:_COLUMNS]):
        values = [row[at] for row in rows]
        kind = f" {table.types[at]}" if at < len(table.types) else ""
        nulls = sum(value is None for value in values)
        told = ", ".join(map(shown.cell, _examples(values)))
        yield f"- {one_line(name, 120)}{kind}: {len(set(values))} different, {nulls} NULL, e.g. {told}"
    if left := table.columns[_COLUMNS:]:
        yield f"- and {len(left)} more columns"
    yield "first rows:"
    yield from (" | ".join(map(shown.cell, row[:_COLUMNS])) for row in rows[:5])
    yield from (f"{check.name}, {check.outcome}: {one_line(check.detail, 300)}" for check in checked.checks)


def _examples(values: list[Cell]) -> list[Cell]:
    different: list[Cell] = list(dict.fromkeys(value for value in values if value is not None))
    if len(different) <= 2 * _EDGE + _SPREAD:
        return different
    middle = different[_EDGE:-_EDGE]
    step = max(1, len(middle) // _SPREAD)
    return [*different[:_EDGE], *middle[::step][:_SPREAD], *different[-_EDGE:]]
