"""audits so far → what still holds of them: the ledger, what they cost, and an approval that a new candidate keeps."""

from __future__ import annotations

from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit, AuditKind, Ledger

PROCESS: tuple[AuditKind, ...] = ("checkpoint", "candidate")


def ledger(given: Assignment) -> Ledger:
    """The process validator's own, as its last round left it."""
    last = last_of(given, *PROCESS)
    return last.ledger if last else Ledger()


def last_of(given: Assignment, *kinds: AuditKind, asked: bool = False) -> Audit | None:
    """The last audit of these kinds; with `asked` of those that a model made."""
    found = [audit for audit in given.audits if audit.kind in kinds and (audit.asked or not asked)]
    return found[-1] if found else None


def is_spent(given: Assignment, kind: AuditKind, budget: int) -> bool:
    """Whether rejections of this kind leave no further audit: `budget` of them still do."""
    return sum(audit.spends for audit in given.audits if audit.kind == kind) > budget


def standing(given: Assignment, attempt: Attempt, checked: Checked) -> Audit | None:
    """The approval of a process that this candidate shares: equal fingerprint, and the evidence it cites still there."""
    for audit in reversed(given.audits):
        if audit.kind != "candidate" or not checked.fingerprint or audit.fingerprint != checked.fingerprint:
            continue
        return audit if audit.verdict == "approved" and _is_cited(audit, attempt) else None
    return None


def insists(given: Assignment, attempt: Attempt, issue: str) -> bool:
    """Whether the solver knows of an issue and hands the result in all the same: once more, or with `confirm`."""
    told = [audit for audit in given.audits if audit.kind == "candidate" and issue in audit.issues]
    return bool(told) and (_is_confirmed(attempt) or any(is_same(attempt, audit) for audit in told))


def is_same(attempt: Attempt, audit: Audit) -> bool:
    """Whether an audit was of a candidate with the result of the present one."""
    now = attempt.candidate
    before = attempt.candidates[audit.candidate : audit.candidate + 1] if audit.candidate is not None else ()
    return now is not None and bool(before) and before[0].digest == now.digest


def _is_confirmed(attempt: Attempt) -> bool:
    sql = attempt.candidate.submission.sql if attempt.candidate else ""
    return any(
        step.name == "submit"
        and step.arguments.get("sql") == sql
        and str(step.arguments.get("confirm", "")).casefold() == "true"
        for step in attempt.steps
        if step.kind == "tool"
    )


def _is_cited(audit: Audit, attempt: Attempt) -> bool:
    """Whether every step that the approval cites is still a step of the attempt."""
    cited = {id for claim in audit.ledger.verified_claims for id in claim.evidence}
    steps = {step.index: step for step in attempt.steps}
    for item in audit.package.items:
        if item.id not in cited or item.tool == "profile":
            continue
        step = steps.get(item.trace_step_index)
        if step is None or step.name != item.tool or not item.request.items() <= step.arguments.items():
            return False
    return True
