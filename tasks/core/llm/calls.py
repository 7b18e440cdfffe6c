"""A request that ended, well or not → whoever listens: the run's log and its traces."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from tasks.core.errors import TablewrightError
from tasks.core.llm import budget
from tasks.core.models.run import StageSpend


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
    """A request under way; who sends it puts here what it took."""

    spent: StageSpend | None = None


@contextlib.contextmanager
def heard(role: str, model: str, endpoints: Sequence[str]) -> Iterator[Noted]:
    """Tell of the request made inside, also when it fails."""
    noted, began, clock = Noted(), time.time(), time.monotonic()
    error = ""
    try:
        yield noted
    except TablewrightError as trouble:
        error = trouble.message
        raise
    finally:
        spent = noted.spent or StageSpend(stage=budget.current_stage())
        spent = spent.model_copy(update={"seconds": round(time.monotonic() - clock, 3)})
        tell(Call(role, model, tuple(endpoints), began, spent, error))


def journaled(role: str, model: str, spent: StageSpend) -> None:
    """Tell of replies that the journal gave."""
    tell(Call(role, model, (), time.time(), spent))


def tell(call: Call) -> None:
    """Tell whoever listens."""
    if hear := listener.get():
        hear(call)
