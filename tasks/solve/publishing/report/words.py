"""figures and states → the words of the report."""

from __future__ import annotations

from tasks.core.models.answer import Status
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
    "rejected": "Validators found the answer wrong, or it could not be reproduced from the files and is not shown.",
    "failed": "No answer was found.",
}

AUDITS: dict[AuditKind, str] = {
    "checkpoint": "On the way",
    "candidate": "How it was found",
    "answer": "Its form",
}
VERDICTS: dict[Verdict, str] = {"approved": "approved", "rejected": "rejected", "not_assessed": "not assessed"}


def counted(number: int, noun: str) -> str:
    """`1 row`, `12,340 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: int) -> str:
    """Bytes in the unit that keeps the figure short."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
