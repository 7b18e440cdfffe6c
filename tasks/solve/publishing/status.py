"""attempt + replay → status and the one sentence that says why."""

from __future__ import annotations

from collections.abc import Iterable

from tasks.core.models.answer import Attempt, Status
from tasks.core.models.evidence import Check, Replay

_ENDED = {
    "turns": "the solver ran out of turns before it handed in an answer",
    "budget": "the budget ran out before the solver was done",
    "loop": "the solver went round in circles and was stopped",
    "model_error": "the model stopped giving usable replies",
    "no_query": "the model gave no query that runs",
    "document": "the solver waited for the table of a document that nobody drew",
}


def judge(
    attempt: Attempt,
    replay: Replay | None,
    confident_share: float,
    checks: Iterable[Check] = (),
    cut_short: bool = False,
) -> tuple[Status, str]:
    """The status that replay, failed checks and the solver's own account allow; never `approved`: no validator has looked.

    What checks only note is a remark and changes nothing. `cut_short`: something ended the drawing of tables from
    documents before it was done.
    """
    if replay is None:
        return "failed", _without_candidate(attempt)
    if not replay.equal:
        return "rejected", f"{replay.error}; the answer is withheld"
    reservations = [*_reservations(attempt, confident_share)]
    if cut_short:
        reservations.append("tables drawn from documents are not whole: run again to complete them")
    if replay.truncated:
        reservations.append(f"only the first {replay.rows} rows could be kept")
    reservations += [
        check.detail
        for check in checks
        if check.outcome == "failed" and (check.name != "row limit" or not replay.truncated)
    ]
    if reservations:
        return "partial", f"replayed and equal, but {'; '.join(reservations)}"
    return "not_assessed", "replayed and equal; not audited by validators yet"


def _without_candidate(attempt: Attempt) -> str:
    why = _ENDED.get(attempt.ended, "the solver handed in nothing that runs")
    errors = [candidate.error for candidate in attempt.candidates if candidate.error]
    detail = errors[-1] if errors else attempt.problems[-1] if attempt.problems else ""
    return f"{why} ({detail.splitlines()[0]})" if detail else why


def _reservations(attempt: Attempt, confident_share: float) -> list[str]:
    found = []
    if attempt.ended != "submitted":
        found.append(_ENDED[attempt.ended] if attempt.ended != "no_query" else "the solver did not hand it in itself")
    if attempt.agreement is not None and attempt.agreement < confident_share and attempt.candidate:
        found.append(f"only {attempt.candidate.votes} of {attempt.samples} samples agree on it")
    return found
