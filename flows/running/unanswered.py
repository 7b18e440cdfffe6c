"""A task whose run gave nothing → the evidence.json and report.html that say why, as those of an answer would."""

from __future__ import annotations

import contextlib
from datetime import date
from pathlib import Path

from flows.running.session import versions
from flows.running.task import read_task
from tasks.core.errors import InputError
from tasks.core.files.caller import write_all
from tasks.core.models.answer import Contract, Question
from tasks.core.models.evidence import Evidence, Outline, Solving


def explain(folder: Path, out: Path, reason: str) -> None:
    """Write them into `out`, of the task in `folder`; where they cannot be written, the row of the task stands alone."""
    from tasks.solve.publish import to_json
    from tasks.solve.publishing.report.page import render

    evidence = Evidence(
        question=_question(folder),
        status="failed",
        reason=reason,
        contract=Contract(),
        replay=None,
        outline=Outline(),
        used=(),
        joins=(),
        statements=(),
        checks=(),
        doubts=(),
        sources=(),
        solving=Solving(
            style="tools",
            ended="error",
            chosen=None,
            samples=0,
            agreement=None,
            candidates=(),
            steps=(),
            problems=(reason,),
        ),
        models={},
        usage=(),
        versions=versions(),
    )
    with contextlib.suppress(InputError):
        files = {"evidence.json": to_json(evidence), "report.html": render(evidence, None).encode()}
        write_all(str(out), files, "what became of the task")


def _question(folder: Path) -> Question:
    """That of task.json; without words where it cannot be read."""
    with contextlib.suppress(InputError):
        if task := read_task(str(folder)):
            return Question(text=task.question, as_of=date.today(), task_id=task.task_id, difficulty=task.difficulty)
    return Question(text="", as_of=date.today(), task_id=folder.name)
