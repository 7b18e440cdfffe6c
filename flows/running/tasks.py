"""A folder of task folders → what became of each, kept up to date in `summary.json`."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flows.running.plan import Turn
from flows.running.request import AnswerRequest
from flows.running.rows import Row, Stop, row_of_stop
from flows.running.task import find_task
from flows.running.unanswered import explain
from tasks.benchmark.score import PENALTY, gold_tables, score
from tasks.core.errors import InputError, TablewrightError
from tasks.core.files.paths import check_folder, is_file, is_folder, natural, other_folder
from tasks.core.files.store import Folder
from tasks.core.settings import Settings


class Batch:
    """The tasks of a folder and their rows so far."""

    def __init__(self, source: Path, target: Path, profile: str, deadline: float, gold: Path | None = None) -> None:
        """`deadline` is in seconds from now; 0 = none. `gold` holds `TASK/gold.csv`; without it `gold` in the source, if any.

        Raises InputError when there are no tasks, no place for results, or no gold where it was said to be.
        """
        self.source, self.target, self.profile = source, target, profile
        self.tasks, self.ignored = find_tasks(source)
        if target.resolve() == source.resolve():
            raise InputError(
                f"the output folder {target} is the folder of the tasks",
                "choose another one: nothing is written into sources",
            )
        if inside := [task for task in self.tasks if target.resolve().is_relative_to((source / task).resolve())]:
            raise InputError(
                f"the output folder {target} lies in the task {inside[0]}, whose files are sources",
                "choose an output folder outside of it",
            )
        self.gold = gold or (source / "gold" if any(source.glob("gold/*/gold.csv")) else None)
        if self.gold:
            gold_tables(self.gold)
        self.rows: dict[str, Row] = {}
        self.drafts: set[str] = set()
        """Tasks whose prediction.csv is that of a candidate."""
        self.bare: set[str] = set()
        """Tasks whose run ended without evidence and report."""
        self.ended = ""
        self.score: dict[str, Any] = {}
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

    def request(self, turn: Turn, settings: Settings) -> AnswerRequest:
        """What is asked of one task: its own question, and no more time than the profile or the plan gives it."""
        late = settings.batch.late_profile if turn.late else ""
        limits = [limit for limit in (settings.budget.seconds, turn.seconds) if limit]
        return AnswerRequest(
            folder=str(self.source / turn.task),
            profile=f"{self.profile}+{late}" if late else self.profile,
            out=str(self.target / turn.task),
            csv_name="prediction.csv",
            seconds=min(limits, default=0.0),
        )

    def add(self, row: Row) -> None:
        """Keep a task's row, the files that explain one without an answer, and the summary; where that cannot be written now, the next one will be."""
        row = self.rows[row.task] = self._with_draft(row)
        if row.task in self.bare:
            told = f"{row.reason}; next: {row.next}" if row.next else row.reason
            explain(self.source / row.task, self.target / row.task, told)
        with contextlib.suppress(InputError):
            self.write()

    def keep_draft(self, task: str, table: bytes) -> None:
        """Lay a candidate's table where the answer's shall be; trouble with that is told when the answer is written."""
        with contextlib.suppress(OSError):
            Folder(self.target / task).write("prediction.csv", table)
            self.drafts.add(task)

    def _with_draft(self, row: Row) -> Row:
        if row.rows is not None or row.task not in self.drafts:
            return row
        if not is_file(self.target / row.task / "prediction.csv"):  # withheld at last
            return row
        reason = f"{row.reason}; prediction.csv is a candidate that was replayed, and no validator has approved it"
        return row.model_copy(update={"draft": True, "reason": reason})

    def keep_traceback(self, task: str, text: str) -> None:
        """Keep what a programmer needs of an error that nobody foresaw, in `TASK/error.txt` where that can be written."""
        with contextlib.suppress(OSError):
            Folder(self.target / task).write("error.txt", text.encode())

    def close(self, stop: Stop | None, scored: bool = True) -> None:
        """Give every task without a row one that says why, and all their scores where there is gold."""
        self.ended = stop or "all"
        for task in self.tasks:
            if task not in self.rows:
                self.rows[task] = self._with_draft(row_of_stop(task, stop or "interrupted"))
        self.write()
        if self.gold and scored:
            self._score(self.gold)
            self.write()

    def _score(self, gold: Path) -> None:
        try:
            scored = [task for task in score(self.target, gold).tasks if task.task in self.rows]
        except TablewrightError as error:
            self.score = {"gold": str(gold), "problem": error.message}
            return
        for task in scored:
            self.rows[task.task] = self.rows[task.task].model_copy(update={"score": round(task.score, 4)})
        values = [task.score for task in scored]
        self.score = {
            "gold": str(gold),
            "tasks": len(values),
            "mean": round(sum(values) / len(values), 4) if values else None,
            "perfect": sum(task.perfect for task in scored),
            "penalty": PENALTY,
        }

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
            **({"score": self.score} if self.score else {}),
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
                f"give a folder, as {other_folder(self.target)}",
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
    try:
        names = sorted((path.name for path in source.iterdir() if not path.name.startswith(".")), key=natural)
    except OSError as error:
        raise InputError(
            f"the folder {source} cannot be listed: {error.strerror}", "give it read permission"
        ) from error
    tasks = [name for name in names if _is_text(name) and is_folder(source / name) and _is_task(source / name)]
    if not tasks:
        raise InputError(f"no task folder in {source}", "a task folder holds task.json with a `question`, and context/")
    return tasks, [name.encode("utf-8", "backslashreplace").decode() for name in names if name not in tasks]


def _is_task(folder: Path) -> bool:
    """Whether it holds a task.json, whatever that is; of one that cannot be looked into nobody knows, and its row says so."""
    try:
        return find_task(folder) is not None
    except InputError:
        return True


def _is_text(name: str) -> bool:
    """Whether a name can be written; one that is not valid UTF-8 cannot, and its folder is no task."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)
