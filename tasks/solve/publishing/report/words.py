"""figures and states → the words of the report."""

from __future__ import annotations

from tasks.core.models.answer import Status
from tasks.core.models.evidence import Evidence
from tasks.core.models.review import AuditKind, Verdict

LABELS: dict[Status, str] = {
    "approved": "Approved",
    "not_assessed": "Replayed, not audited",
    "partial": "Partial",
    "rejected": "Rejected",
    "failed": "No answer",
}
MEANINGS: dict[Status, str] = {
    "approved": "The answer was computed from the files below, replayed, and approved by the validators.",
    "not_assessed": "The answer was computed from the files below and replayed with the same result. "
    "No validator has found it to be the right answer to the question.",
    "partial": "There is an answer, and a reason to be careful with it.",
    "rejected": "The answer was replayed with the same result, but checks or validators found it wrong.",
    "failed": "No answer was found.",
}

AUDITS: dict[AuditKind, str] = {
    "checkpoint": "On the way",
    "candidate": "How it was found",
    "answer": "Its form",
}
VERDICTS: dict[Verdict, str] = {"approved": "approved", "rejected": "rejected", "not_assessed": "not assessed"}


def headline(evidence: Evidence) -> tuple[str, str]:
    """The status in words, and what it means; an answer that was not reproduced is withheld."""
    if evidence.status == "rejected" and evidence.replay and not evidence.replay.equal:
        return "Withheld", "The answer could not be reproduced from the files, so it is not shown."
    return LABELS[evidence.status], MEANINGS[evidence.status]


def size(number: int) -> str:
    """Bytes in the unit that keeps the figure short."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
