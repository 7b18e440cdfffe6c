"""A run under way → lines of its log and spans of its trace, as settings ask for them; neither can stop it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from flows.running.log import Log
from flows.running.traces import Traces
from tasks import stage
from tasks.core.llm import calls
from tasks.core.llm.calls import Call

if TYPE_CHECKING:
    from flows.running.session import Run


class Observer(Protocol):
    """Who is told what a run does. Nothing may be raised."""

    def stage(self, name: str, event: stage.StageEvent, seconds: float) -> None:
        """A stage started or ended."""

    def call(self, call: Call) -> None:
        """A model was asked, or the journal in its place."""

    def message(self, level: str, name: str, text: str) -> None:
        """Code has logged something."""

    def end(self, facts: dict[str, Any]) -> str:
        """The run has ended; why the observer could not do its work, or nothing."""


_log = logging.getLogger("tablewright")
"""Shown on standard error where nothing else is configured."""
_observers: ContextVar[tuple[Observer, ...]] = ContextVar("observers", default=())


class _Handler(logging.Handler):
    """Brings what our code logs to the observers of the run that it is logged in."""

    def emit(self, record: logging.LogRecord) -> None:
        for each in _observers.get():
            each.message(record.levelname.lower(), record.name, record.getMessage())


_HANDLER = _Handler(logging.INFO)


@contextlib.contextmanager
def observing(run: Run) -> Iterator[None]:
    """Tell the log and the traces of what happens inside, and at its end how the run ended."""
    facts = {"run": run.id, "task": run.question.task_id, "flow": run.request.FLOW}
    made: list[Observer] = []
    if run.settings.log.file:
        made.append(Log(run.settings.log.file, facts))
    if run.settings.traces.url:
        made.append(Traces(run.settings.traces, facts))
    if not made:
        yield
        return
    for name in ("tasks", "flows"):
        logging.getLogger(name).addHandler(_HANDLER)
    outer = stage.listener.get()

    def hear(name: str, event: stage.StageEvent, seconds: float) -> None:
        for each in made:
            each.stage(name, event, seconds)
        if outer:
            outer(name, event, seconds)

    def hear_call(call: Call) -> None:
        for each in made:
            each.call(call)

    tokens = stage.listener.set(hear), calls.listener.set(hear_call), _observers.set(tuple(made))
    try:
        yield
    finally:
        stage.listener.reset(tokens[0])
        calls.listener.reset(tokens[1])
        _observers.reset(tokens[2])
        total = run.meter.spend().total().model_dump(exclude={"stage", "seconds"})
        ended = {"status": run.status, "reason": run.reason, "seconds": run.seconds, **total, "warnings": run.warnings}
        for trouble in filter(None, [each.end(ended) for each in made]):
            _log.warning(trouble)
