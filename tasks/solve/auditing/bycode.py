"""what code knows of a candidate → a rejection or an approval that needs no model, or nothing."""

from __future__ import annotations

from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit, Obligation
from tasks.solve.auditing import history

_REPLAY = "replay"
"""Name of the check that nobody can insist against."""
_BEYOND = frozenset(["document cells"])
"""Names of checks that fail for what was read, which no other query mends: the answer is partial, and nothing is sent back."""
_INSIST = "Correct this, or submit the same query again with confirm = true if it is right as it is."


def refused(opening: Audit, given: Assignment, attempt: Attempt, checked: Checked) -> Audit | None:
    """The rejection of a candidate that fails a check or comes back as it was with an action still due; else None.

    A check is told once: whoever insists afterwards is not stopped by it again. Only what is told once more spends budget.
    """
    failed = [check for check in checked.checks if check.outcome == "failed" and check.name not in _BEYOND]
    fresh = [check for check in failed if check.name == _REPLAY or not history.insists(given, attempt, check.detail)]
    if fresh:
        told = {issue for audit in given.audits if audit.kind == "candidate" for issue in audit.issues}
        wanted = () if any(check.name == _REPLAY for check in fresh) else (_INSIST,)
        return _rejected(
            opening,
            tuple(dict.fromkeys(check.detail for check in fresh)),
            tuple(Obligation(text=text, opened_at=opening.steps) for text in wanted),
            spends=any(check.detail in told for check in fresh),
        )
    before = history.last_of(given, *history.PROCESS, asked=True)
    due = tuple(duty for duty in opening.settled if duty.status == "open")
    rejected = before is not None and before.kind == "candidate" and before.verdict == "rejected"
    if before and rejected and due and not _is_answered(opening) and history.is_same(attempt, before):
        return _rejected(opening, tuple(f"not done yet: {duty.text}" for duty in due), due, spends=True)
    return None


def confirmed(opening: Audit, given: Assignment, attempt: Attempt, checked: Checked) -> Audit | None:
    """The approval that a candidate with an approved fingerprint keeps, without its earlier form; else None."""
    approval = history.standing(given, attempt, checked)
    if approval is None:
        return None
    return opening.model_copy(update={"verdict": "approved", "ledger": approval.ledger})


def _is_answered(opening: Audit) -> bool:
    """Whether later evidence has closed some action: then the validator looks at what it says."""
    return any(duty.status == "closed" for duty in opening.settled)


def _rejected(opening: Audit, issues: tuple[str, ...], actions: tuple[Obligation, ...], spends: bool) -> Audit:
    return opening.model_copy(update={"verdict": "rejected", "issues": issues, "actions": actions, "spends": spends})
