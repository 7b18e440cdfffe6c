"""A folder of task folders → what became of each, kept up to date in `summary.json`."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from flows.running.request import AnswerRequest
from flows.running.session import Ended
from flows.running.task import find_task
from tasks.core.errors import InputError, TablewrightError
from tasks.core.files.paths import check_folder, is_file, is_folder, natural
from tasks.core.files.store import Folder
from tasks.core.models.answer import Status
from tasks.core.models.evidence import Evidence
from tasks.core.models.value import Value

RowStatus = Status | Literal["error", "deadline", "interrupted"]


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


class Batch:
    """The tasks of a folder and their rows so far."""

    def __init__(self, source: Path, target: Path, profile: str, deadline: float) -> None:
        """`deadline` is in seconds from now; 0 = none. Raises InputError when there are no tasks, or no place for results."""
        self.source, self.target, self.profile = source, target, profile
        self.tasks, self.ignored = find_tasks(source)
        if inside := [task for task in self.tasks if target.resolve().is_relative_to((source / task).resolve())]:
            raise InputError(
                f"the output folder {target} lies in the task {inside[0]}, whose files are sources",
                "choose an output folder outside of it",
            )
        self.rows: dict[str, Row] = {}
        self.ended = ""
        self._began, self._started = time.monotonic(), datetime.now(UTC)
        self.deadline = self._began + deadline if deadline else None
        self.write()

    @property
    def seconds(self) -> float:
        """Wall clock since the start."""
        return time.monotonic() - self._began

    def seconds_left(self) -> float | None:
        """Until the deadline; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def request(self, task: str, grace: float) -> AnswerRequest:
        """What is asked of one task: its own question, and an end before the deadline that leaves time to publish."""
        until = self.seconds_left()
        left = 0.0 if until is None else max(1.0, until - grace)
        return AnswerRequest(
            folder=str(self.source / task),
            profile=self.profile,
            out=str(self.target / task),
            csv_name="prediction.csv",
            seconds=left,
        )

    def add(self, row: Row) -> None:
        """Keep a task's row, and the summary with it."""
        self.rows[row.task] = row
        self.write()

    def keep_traceback(self, task: str, text: str) -> None:
        """Keep what a programmer needs of an error that nobody foresaw, in `TASK/error.txt`."""
        Folder(self.target / task).write("error.txt", text.encode())

    def close(self, ended: Literal["all", "deadline", "interrupted"]) -> None:
        """Give every task without a row one that says why."""
        self.ended = ended
        why = {"deadline": "the deadline came first", "interrupted": "the batch was interrupted"}.get(ended, "")
        for task in self.tasks:
            if task not in self.rows:
                self.rows[task] = Row(task=task, status=ended, reason=why)  # type: ignore[arg-type]
        self.write()

    def summary(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        rows = [self.rows[task] for task in self.tasks if task in self.rows]
        return {
            "input": str(self.source),
            "profile": self.profile,
            "started": self._started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "ended": self.ended or "running",
            "counts": {"tasks": len(self.tasks), **Counter(row.status for row in rows)},
            "tokens": sum(row.tokens_in + row.tokens_out for row in rows),
            "ignored": self.ignored,
            "tasks": [row.model_dump(mode="json") for row in rows],
        }

    def write(self) -> None:
        """Write `summary.json`; the file is whole at any time. Raises InputError when the folder takes none."""
        text = json.dumps(self.summary(), ensure_ascii=False, indent=2)
        if is_file(self.target):
            raise InputError(
                f"the output folder {self.target} is a file",
                f"give a folder, as {self.target.parent / self.target.stem}",
            )
        try:
            Folder(self.target).write("summary.json", text.encode())
        except OSError as error:
            raise InputError(f"cannot write to {self.target}: {error.strerror}", "choose another folder") from error


def find_tasks(source: Path) -> tuple[list[str], list[str]]:
    """Names of the task folders in their natural order, and of the other entries. Raises InputError when there is none."""
    check_folder(source, "a folder of task folders")
    if find_task(source):
        raise InputError(f"{source} is one task", f"use `tablewright answer {source}`, or give the folder above it")
    names = sorted((path.name for path in source.iterdir() if not path.name.startswith(".")), key=natural)
    tasks = [name for name in names if _is_text(name) and is_folder(source / name) and _has_task(source / name)]
    if not tasks:
        raise InputError(f"no task folder in {source}", "a task folder holds task.json with a `question`, and context/")
    return tasks, [name.encode("utf-8", "backslashreplace").decode() for name in names if name not in tasks]


def _has_task(folder: Path) -> bool:
    found = find_task(folder)
    return found is not None and is_file(found)


def row_of(task: str, ended: Ended) -> Row:
    """The row of a run that ended."""
    total, answer = ended.spend.total(), ended.answer
    evidence = Evidence.model_validate_json((Path(ended.out) / "evidence.json").read_bytes())
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
    )


def row_of_error(task: str, error: Exception, seconds: float) -> Row:
    """The row of a run that an error ended."""
    if isinstance(error, TablewrightError):
        return Row(task=task, status="error", reason=error.message, next=error.hint, seconds=round(seconds, 3))
    return Row(task=task, status="error", reason=f"{type(error).__name__}: {error}", seconds=round(seconds, 3))


def _is_text(name: str) -> bool:
    """Whether a name can be written; one that is not valid UTF-8 cannot, and its folder is no task."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)
