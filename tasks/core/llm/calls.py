"""A request that ended, well or not → whoever listens: the run's log and its traces."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from tasks.core import timeline
from tasks.core.errors import TablewrightError
from tasks.core.llm import budget
from tasks.core.models.run import StageSpend
from tasks.core.models.timeline import Span


@dataclass(frozen=True)
class Call:
    """One request to a model, or replies that the journal gave in place of one. No text of it."""

    role: str
    model: str
    endpoints: tuple[str, ...]
    """Names of those that could take it."""
    began: float
    """Seconds since the epoch."""
    spent: StageSpend
    """`seconds` are those of the request with its retries."""
    error: str = ""


listener: ContextVar[Callable[[Call], None] | None] = ContextVar("calls", default=None)
"""Called with each of them as it ends."""


class Noted:
    """A request under way; who sends it puts here what it took. Seconds are those of `Span`."""

    spent: StageSpend | None = None
    slot = held = paused = reply = 0.0


_noted: ContextVar[Noted | None] = ContextVar("noted", default=None)


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """The seconds inside are counted for the request under way: `slot`, `held`, `paused` or `reply`."""
    began = time.monotonic()
    try:
        yield
    finally:
        took(what, time.monotonic() - began)


def took(what: str, seconds: float) -> None:
    """Count these seconds for the request under way, as `waiting` does."""
    if noted := _noted.get():
        setattr(noted, what, getattr(noted, what) + seconds)


@contextlib.contextmanager
def heard(role: str, model: str, endpoints: Sequence[str]) -> Iterator[Noted]:
    """Tell of the request made inside, also when it fails."""
    noted, began, clock = Noted(), time.time(), time.monotonic()
    span = Span(stage=budget.current_stage(), role=role or "embedding", model=model, endpoints=tuple(endpoints))
    recorder = timeline.current()
    number = recorder.begin(span) if recorder else 0
    token = _noted.set(noted)
    error = ""
    try:
        yield noted
    except TablewrightError as trouble:
        error = trouble.message
        raise
    finally:
        spent = noted.spent or StageSpend(stage=budget.current_stage())
        spent = spent.model_copy(update={"seconds": round(time.monotonic() - clock, 3)})
        _noted.reset(token)
        if recorder:
            recorder.end(number, outcome="done" if noted.spent else "failed", **_times(noted), **_tokens(spent))
        tell(Call(role, model, tuple(endpoints), began, spent, error))


def _times(noted: Noted) -> dict[str, float]:
    return {name: round(getattr(noted, name), 4) for name in ("slot", "held", "paused", "reply")}


def _tokens(spent: StageSpend) -> dict[str, int]:
    return {name: getattr(spent, name) for name in ("tokens_in", "tokens_cached", "tokens_out")}


def journaled(role: str, model: str, spent: StageSpend) -> None:
    """Tell of replies that the journal gave."""
    tell(Call(role, model, (), time.time(), spent))


def tell(call: Call) -> None:
    """Tell whoever listens."""
    if hear := listener.get():
        hear(call)
