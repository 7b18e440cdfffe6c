"""Model calls → what they cost, by stage, and a stop when a limit of the run is reached."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

from tasks.core.errors import BudgetError
from tasks.core.llm.request import Request
from tasks.core.models.run import Spend, StageSpend
from tasks.core.sections import BudgetSettings

_stage: ContextVar[str] = ContextVar("stage", default="other")


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Calls made inside are counted for this stage."""
    token = _stage.set(name)
    try:
        yield
    finally:
        _stage.reset(token)


def current_stage() -> str:
    """Name of the running stage; `other` outside any."""
    return _stage.get()


class Meter:
    """Counts the calls of one run. The clock starts when it is made; safe to use from several threads."""

    def __init__(self, limits: BudgetSettings) -> None:
        self.limits = limits
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._stages: dict[str, StageSpend] = {}
        self._held_calls = 0
        self._held_tokens = 0
        self.over = False
        """Whether a limit has stopped anything."""

    @contextlib.contextmanager
    def reserve(self, calls: int, tokens: int, request: Request | None = None) -> Iterator[None]:
        """Hold so many replies and prompt tokens while a request is under way, so that concurrent ones cannot overshoot.

        `request` is that of a prompt; it is not looked at here.

        Raises BudgetError when a limit does not allow it.
        """
        with self._lock:
            self._check(calls, tokens)
            self._held_calls += calls
            self._held_tokens += tokens
        try:
            yield
        finally:
            with self._lock:
                self._held_calls -= calls
                self._held_tokens -= tokens

    def add(self, spent: StageSpend) -> None:
        """Count this for the stage it names."""
        with self._lock:
            old = self._stages.get(spent.stage, StageSpend(stage=spent.stage))
            both = Spend(stages=(old, spent)).total()
            self._stages[spent.stage] = both.model_copy(update={"stage": spent.stage})

    def check(self) -> None:
        """Raises BudgetError when a limit is reached."""
        with self._lock:
            self._check(0, 0)

    def spend(self) -> Spend:
        """What was spent so far, stages in the order of their first call."""
        with self._lock:
            return Spend(stages=tuple(self._stages.values()))

    def seconds_left(self) -> float | None:
        """Wall-clock seconds that the run still has; None without such a limit. Never negative."""
        if not self.limits.seconds:
            return None
        return max(0.0, self.limits.seconds - (time.monotonic() - self._started))

    def _check(self, calls: int, tokens: int) -> None:
        spent = Spend(stages=tuple(self._stages.values())).total()
        used_tokens = spent.tokens_in + spent.tokens_out + self._held_tokens
        for name, used, wanted, allowed in (
            ("calls", spent.calls + self._held_calls, calls, self.limits.calls),
            ("tokens", used_tokens, tokens, self.limits.tokens),
            ("money", spent.money, 0.0, self.limits.money),
            ("seconds", time.monotonic() - self._started, 0.0, self.limits.seconds),
        ):
            if allowed and (used + wanted > allowed or used >= allowed):
                self.over = True
                raise BudgetError(
                    f"the budget of {name} is used up: {used:.6g} of {allowed:.6g}"
                    + (f", and the next request needs {wanted:.6g}" if wanted else ""),
                    f"raise budget.{name} (0 = no limit) and run again: what is done is not paid for twice",
                )
