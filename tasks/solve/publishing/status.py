"""attempt + checked candidate + what validators said → status and the one sentence that says why."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.core.evidence.checks import UNMADE
from tasks.core.models.answer import Assignment, Attempt, Status
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit

_ENDED = {
    "turns": "the solver ran out of turns before it handed in an answer",
    "budget": "the budget ran out before the solver was done",
    "loop": "the solver went round in circles and was stopped",
    "model_error": "the model stopped giving usable replies",
    "unreachable": "the model cannot be reached",
    "no_query": "the model gave no query that runs",
    "document": "the solver waited for the table of a document that nobody drew",
    "audit": "the solver waited for validators",
}


def judge(given: Assignment, attempt: Attempt, checked: Checked, confident_share: float) -> tuple[Status, str]:
    """The status that replay, checks, validators and the solver's own account allow.

    `approved` takes an equal replay, no failed check, and validators of process and form who approved this very answer.
    What checks only note is a remark and changes nothing.
    """
    replay = checked.replay
    if replay is None:
        return "failed", _without_candidate(attempt)
    if not replay.equal:
        return "rejected", f"{replay.error}; the answer is withheld"
    process, form = verdicts(given.audits, attempt.chosen, checked)
    if process and process.verdict == "rejected":
        who = "the validator of how it was found" if process.asked else "a check made by code"
        return (
            "rejected",
            f"replayed and equal, but {who} rejected it: {'; '.join(process.issues) or 'no reason given'}",
        )
    reservations = [*_reservations(attempt, confident_share)]
    if given.catalogue.stopped:
        reservations.append("tables drawn from documents are not whole: run again to complete them")
    if replay.truncated:
        reservations.append(f"only the first {replay.rows} rows could be kept")
    reservations += [
        check.detail
        for check in checked.checks
        if (check.outcome == "failed" or check.name == UNMADE) and (check.name != "row limit" or not replay.truncated)
    ]
    if form and form.verdict == "rejected":
        reservations += form.issues or ("the validator of its form rejected it: no reason given",)
    if reservations:
        return "partial", f"replayed and equal, but {'; '.join(dict.fromkeys(reservations))}"
    if process and form and process.verdict == form.verdict == "approved":
        return "approved", "replayed and equal; validators approved how it was found and its form"
    return "not_assessed", f"replayed and equal; {_unlooked(process, form)}"


def verdicts(audits: Sequence[Audit], chosen: int | None, checked: Checked) -> tuple[Audit | None, Audit | None]:
    """What validators of the process and of the form said last about this answer; None where nobody looked.

    The process is the same where the fingerprint is; the form is that of the candidate alone.
    """
    process = [
        audit
        for audit in audits
        if audit.kind == "candidate"
        and (audit.fingerprint == checked.fingerprint if audit.fingerprint else audit.candidate == chosen)
    ]
    form = [audit for audit in audits if audit.kind == "answer" and audit.candidate == chosen]
    return process[-1] if process else None, form[-1] if form else None


def _unlooked(process: Audit | None, form: Audit | None) -> str:
    if process is None and form is None:
        return "not audited by validators"
    for audit, what in ((process, "how it was found"), (form, "its form")):
        if audit is None:
            return f"{what} was not audited by validators"
        if audit.verdict == "not_assessed":
            return f"{what} was not assessed by validators" + (f": {audit.problem}" if audit.problem else "")
    return "not audited by validators"


def _without_candidate(attempt: Attempt) -> str:
    why = _ENDED.get(attempt.ended, "the solver handed in nothing that runs")
    errors = [candidate.error for candidate in attempt.candidates if candidate.error]
    detail = errors[-1] if errors else attempt.problems[-1] if attempt.problems else ""
    return f"{why} ({detail.splitlines()[0]})" if detail else why


def _reservations(attempt: Attempt, confident_share: float) -> list[str]:
    found = []
    if attempt.ended not in ("submitted", "audit"):
        found.append(_ENDED[attempt.ended] if attempt.ended != "no_query" else "the solver did not hand it in itself")
    if attempt.agreement is not None and attempt.agreement < confident_share and attempt.candidate:
        none = f", and {attempt.silent} gave no query that runs" if attempt.silent else ""
        found.append(f"only {attempt.candidate.votes} of {attempt.samples} samples agree on it{none}")
    return found
