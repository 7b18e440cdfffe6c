"""A run that ended, or the error that ended it → the row of its task in a batch's summary."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from flows.running.session import Ended
from tasks.core.errors import TablewrightError
from tasks.core.models.answer import Status
from tasks.core.models.evidence import Evidence
from tasks.core.models.value import Value

Stop = Literal["deadline", "interrupted"]
RowStatus = Status | Stop | Literal["error"]
WHY: dict[Stop, str] = {"deadline": "the deadline came first", "interrupted": "the batch was interrupted"}


class Row(Value):
    """What became of one task."""

    task: str
    status: RowStatus
    """That of the answer; `error`: no answer, see `reason`; `deadline` and `interrupted`: not ended in time."""
    reason: str
    next: str = ""
    """What to do about an error; empty where nobody knows."""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    journaled: int = 0
    rows: int | None = None
    agreement: float | None = None
    """Share of samples that gave this answer; None outside the `single` style."""
    late: bool = False
    """Whether it ran with what the batch lays over its profile when time is short."""
    draft: bool = False
    """Whether prediction.csv holds a candidate that was replayed, and nothing of this run that came after it."""
    code: int = 0
    """Exit code that `answer` ends with for this."""
    score: float | None = None
    """By the gold table; None where there is none, or the batch has not ended."""


def evidence_of(ended: Ended) -> Evidence:
    """What a run that ended laid beside its answer."""
    return Evidence.model_validate_json((Path(ended.out) / "evidence.json").read_bytes())


def exit_code(status: str, ended: str) -> int:
    """0 for an answer that nothing speaks against; without a table 3 or 4 when model or budget ended it; else 5."""
    if status in ("approved", "not_assessed"):
        return 0
    return {"model_error": 3, "unreachable": 3, "budget": 4}.get(ended, 5) if status == "failed" else 5


def row_of(task: str, ended: Ended, evidence: Evidence) -> Row:
    """The row of a run that ended."""
    total, answer = ended.spend.total(), ended.answer
    return Row(
        task=task,
        status=answer.status,
        reason=answer.reason,
        seconds=ended.seconds,
        tokens_in=total.tokens_in,
        tokens_out=total.tokens_out,
        calls=total.calls,
        journaled=total.journaled,
        rows=answer.table.row_count if answer.table else None,
        agreement=evidence.solving.agreement,
        code=exit_code(answer.status, evidence.solving.ended),
    )


def row_of_error(task: str, error: BaseException, seconds: float) -> Row:
    """The row of a run that an error ended."""
    seconds = round(seconds, 3)
    if isinstance(error, TablewrightError):
        reason, hint, code = error.message, error.hint, error.exit_code
    else:
        reason, hint, code = f"{type(error).__name__}: {error}", "", 1
    return Row(task=task, status="error", reason=reason, next=hint, seconds=seconds, code=code)


def row_of_stop(task: str, stop: Stop, seconds: float = 0.0) -> Row:
    """The row of a run that had no time to end."""
    code = 130 if stop == "interrupted" else 4
    return Row(task=task, status=stop, reason=WHY[stop], seconds=round(seconds, 3), code=code)
