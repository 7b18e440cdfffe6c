"""Model calls → what they cost, by stage, and a stop when a limit of the run is reached."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterator
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


class Bell:
    """The moment from which several runs ask no more. It may be brought forward, from any thread: requests that are under
    way then end with it."""

    def __init__(self) -> None:
        self._at: float | None = None
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.Timeout, asyncio.AbstractEventLoop] = {}

    def ring(self, seconds: float = 0.0) -> None:
        """Ask no more, so many seconds from now; a later moment than the one that is set changes nothing."""
        with self._lock:
            at = time.monotonic() + seconds
            if self._at is not None and self._at <= at:
                return
            self._at = at
            for timeout, loop in self._waiting.items():
                loop.call_soon_threadsafe(self._hasten, timeout, loop)

    @property
    def seconds_left(self) -> float | None:
        """Until it rings; None while no moment is set. Never negative."""
        return None if self._at is None else max(0.0, self._at - time.monotonic())

    @contextlib.asynccontextmanager
    async def within(self, seconds: float | None) -> AsyncIterator[None]:
        """A block that ends with TimeoutError after so many seconds, or when the bell rings."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(seconds) as timeout:
            with self._lock:
                self._waiting[timeout] = loop
            self._hasten(timeout, loop)
            try:
                yield
            finally:
                with self._lock:
                    del self._waiting[timeout]

    def _hasten(self, timeout: asyncio.Timeout, loop: asyncio.AbstractEventLoop) -> None:
        left, when = self.seconds_left, timeout.when()
        if left is None or timeout not in self._waiting or timeout.expired():
            return
        if when is None or when > loop.time() + left:
            timeout.reschedule(loop.time() + left)


bell: ContextVar[Bell | None] = ContextVar("bell", default=None)
"""That of all runs started inside; a batch sets it."""


class Meter:
    """Counts the calls of one run. The clock starts when it is made; safe to use from several threads."""

    def __init__(self, limits: BudgetSettings) -> None:
        self.limits = limits
        self._bell = bell.get() or Bell()
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
        left = self._bell.seconds_left
        if not self.limits.seconds:
            return left
        own = max(0.0, self.limits.seconds - (time.monotonic() - self._started))
        return own if left is None else min(own, left)

    def in_time(self) -> contextlib.AbstractAsyncContextManager[None]:
        """A block that ends with TimeoutError when the run's seconds are over, or those of all runs together."""
        return self._bell.within(self.seconds_left())

    def _check(self, calls: int, tokens: int) -> None:
        if self._bell.seconds_left == 0.0:
            self.over = True
            raise BudgetError("the time of all tasks together is over", "give the batch more, and run it again")
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
