"""What a run does → JSON lines with run, task and stage, appended to a file that many runs may share."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

from tasks.core.files.paths import expand
from tasks.core.llm import budget
from tasks.core.llm.calls import Call

_STANDARD_ERROR = "-"


class Log:
    """Lines of one run. Each is written at once and whole, so that lines of several processes never mix."""

    def __init__(self, file: str, facts: dict[str, Any]) -> None:
        """`file`: a path, or `-` for standard error; `facts` stand in every line. A file that cannot be opened is told at the end."""
        self.file, self.facts, self.trouble = file, facts, ""
        self._descriptor: int | None = None
        try:
            if file == _STANDARD_ERROR:
                self._descriptor = os.dup(2)
            else:
                path = expand(file).absolute()
                path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            self.trouble = f"no log is written to {file}: {error.strerror}"
        self._write("info", "run", status="running")

    def stage(self, name: str, event: str, seconds: float) -> None:
        """A stage started or ended: `start`, `done`, `cached`, `retry`, `failed`."""
        level = "warning" if event in ("retry", "failed") else "info"
        self._write(level, "stage", stage=name, status=event, seconds=round(seconds, 3))

    def call(self, call: Call) -> None:
        """A model was asked; of the prompt and the reply only their sizes."""
        spent = call.spent.model_dump(exclude={"stage"})
        told = {"role": call.role, "model": call.model, "endpoints": list(call.endpoints), **spent}
        self._write("warning" if call.error else "info", "call", stage=call.spent.stage, **told, error=call.error)

    def message(self, level: str, name: str, text: str) -> None:
        """What code has logged."""
        self._write(level, "message", stage=budget.current_stage(), logger=name, message=text)

    def end(self, facts: dict[str, Any]) -> str:
        """The last line; why the log is not whole, if it is not."""
        self._write("info" if facts["status"] in ("approved", "not_assessed", "done") else "warning", "run", **facts)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        return self.trouble

    def _write(self, level: str, event: str, **more: Any) -> None:
        if self._descriptor is None:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": moment, "level": level, "event": event, **self.facts, **more}
        try:
            os.write(self._descriptor, (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
        except OSError as error:
            self.trouble = f"the log {self.file} is not whole: {error.strerror}"
