"""Stages and model calls as they begin and end → the timeline of a run: who came after whom, not only when.

What a part waited for is known by the tasks of the event loop: it comes after whatever its own task did before it, and
after the tasks which that one started and which have ended. Two parts of different tasks do not wait for each other, however
one may follow the other on the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

from tasks.core.models.timeline import Moment, Span, Timeline

T = TypeVar("T")


class _Branch:
    """What one task of the event loop has done."""

    def __init__(self, task: asyncio.Task[Any] | None, after: tuple[int, ...]) -> None:
        self.task = task
        self.last = dict.fromkeys(after)
        """Moments that whatever comes next here must wait for, but for those of tasks that have just ended."""
        self._started: dict[_Branch, None] = {}

    def fork(self, task: asyncio.Task[Any] | None) -> _Branch:
        """The branch of a task that this one started."""
        made = _Branch(task, tuple(self.last))
        self._started[made] = None
        if task:
            task.add_done_callback(lambda _: self._join(made))
        return made

    def frontier(self) -> tuple[int, ...]:
        """Moments that whatever comes next here must wait for."""
        for each in [each for each in self._started if each.task is None or each.task.done()]:
            self._join(each)
        return tuple(self.last)

    def come(self, moment: int) -> None:
        """This one came after all of them."""
        self.last = {moment: None}

    def _join(self, ended: _Branch) -> None:
        if ended in self._started:
            del self._started[ended]
            self.last.update(dict.fromkeys(ended.frontier()))


class Recorder:
    """The timeline of a run under way; it begins when this is made. For one event loop."""

    def __init__(self) -> None:
        self._clock = time.monotonic()
        self._moments: list[Moment] = []
        self._spans: list[Span] = []

    def begin(self, span: Span) -> int:
        """A span begins here and now; its number."""
        self._spans.append(span)
        self._come(len(self._spans) - 1)
        return len(self._spans) - 1

    def end(self, number: int, **told: Any) -> None:
        """It ends; `told` are fields of it that are known by now."""
        self._spans[number] = self._spans[number].model_copy(update=told)
        self._come(number)

    def closed(self, slots: Mapping[str, int]) -> Timeline:
        """The timeline up to now, as if the run ended; `slots` as in Timeline."""
        mine = here()
        last = Moment(at=self._now(), after=mine.frontier() if mine else (), span=None)
        return Timeline(moments=(*self._moments, last), spans=tuple(self._spans), slots=dict(slots))

    def _come(self, span: int) -> None:
        mine = here()
        self._moments.append(Moment(at=self._now(), after=mine.frontier() if mine else (), span=span))
        if mine:
            mine.come(len(self._moments) - 1)

    def _now(self) -> float:
        return round(time.monotonic() - self._clock, 4)


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)
_branch: ContextVar[_Branch | None] = ContextVar("branch", default=None)


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    """Everything inside is part of this timeline, and nothing else."""
    recorder = Recorder()
    tokens = _recorder.set(recorder), _branch.set(_Branch(_task(), ()))
    try:
        yield recorder
    finally:
        _recorder.reset(tokens[0])
        _branch.reset(tokens[1])


def current() -> Recorder | None:
    """That of this run; None outside of any."""
    return _recorder.get()


def here() -> _Branch | None:
    """The branch of the running task, made where it is new; None outside a run."""
    known, task = _branch.get(), _task()
    if known is None or known.task is task:
        return known
    fresh = known.fork(task)
    _branch.set(fresh)
    return fresh


async def branch(work: Coroutine[Any, Any, T]) -> T:
    """The same work as a branch of its own from its first moment on: for what starts further tasks before it does anything."""
    here()
    return await work


def _task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
