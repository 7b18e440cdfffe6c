"""tasks of a folder → a prediction for each, several at once, to their end, a deadline or a signal; one task's trouble is its own."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Protocol

from flows.running import draft
from flows.running.launch import Ask, asking
from flows.running.link import Link
from flows.running.plan import Plan, Turn
from flows.running.rows import Row, Stop, evidence_of, row_of, row_of_error, row_of_stop
from flows.running.tasks import Batch
from flows.running.ticker import shown
from tasks import stage
from tasks.core.errors import BudgetError, TablewrightError
from tasks.core.llm import budget
from tasks.core.settings import Settings

_GRACE_SHARE = 0.25
"""Most of the time that a batch may keep back for publishing."""
_CUT_SHARE = 0.8
"""Of that time; then tasks that have not ended are cancelled, which takes a moment."""
_LEAVE_SECONDS = 1.0
"""Past the end, before what cannot be cancelled is left as it is."""


class Board(Protocol):
    """Who is told how far the tasks are."""

    def shown(self) -> AbstractContextManager[object]:
        """Shown as long as the batch runs."""

    def hear(self, task: str, name: str, event: stage.StageEvent) -> None:
        """One stage event of a task."""

    def end(self, row: Row) -> None:
        """A task has ended."""


def run_batch(batch: Batch, settings: Settings, places: int, link: Link | None, board: Board) -> None:
    """Run the tasks of a batch, in so many places at once. A signal stops it, a second one at once."""
    _Runner(batch, settings, places, link, board).run()


class _Runner:
    """Runs a batch in an event loop of another thread: in the main thread Prefect takes SIGTERM for itself, and then
    nobody would write the summary.

    Every end has two steps: at the first no model is asked any more and tasks publish what is proven, at the second those
    that have not are cancelled. What cannot be cancelled either is left behind.
    """

    def __init__(self, batch: Batch, settings: Settings, places: int, link: Link | None, board: Board) -> None:
        self.batch, self.settings, self.link, self.board = batch, settings, link, board
        self.places = min(places, len(batch.tasks))
        self._first, self._second = budget.Bell(), budget.Bell()
        self._leave_at: float | None = None
        self._signals = 0
        left = batch.seconds_left()
        self._grace = min(settings.batch.grace_seconds, _GRACE_SHARE * left) if left else settings.batch.grace_seconds
        self.plan = Plan(batch.source, batch.tasks, settings.batch, left - self._grace if left else None)
        if left:
            self._end_in(left, self._grace)

    @property
    def stop(self) -> Stop | None:
        """Why no model is asked any more; None while one is."""
        if self._signals:
            return "interrupted"
        return "deadline" if self._first.seconds_left == 0 else None

    def run(self) -> None:
        """Run all tasks. A signal stops them; a second one does not wait for them."""
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(kind, self._signalled) for kind in kinds]
        try:
            with self.board.shown(), ThreadPoolExecutor(1) as pool:
                running = pool.submit(copy_context().run, asyncio.run, self._all())
                while not running.done():
                    time.sleep(0.1)
                    if self._leave_at is not None and time.monotonic() > self._leave_at:
                        self._leave()
                running.result()
        finally:
            for kind, handler in zip(kinds, before, strict=True):
                signal.signal(kind, handler)
        self.batch.close(self.stop)

    def _signalled(self, *_: object) -> None:
        self._signals += 1
        if self._signals > 1:
            self._leave()
        seconds = self.settings.batch.stop_seconds
        self._end_in(seconds, seconds)
        leaving = threading.Timer(seconds + _LEAVE_SECONDS, self._leave)  # until this process has gone
        leaving.daemon = True
        leaving.start()

    def _end_in(self, seconds: float, grace: float) -> None:
        """Come to the end in so many seconds, the last `grace` of them without a model."""
        self._first.ring(seconds - grace)
        self._second.ring(seconds - grace + _CUT_SHARE * grace)
        leave_at = time.monotonic() + seconds + _LEAVE_SECONDS
        self._leave_at = leave_at if self._leave_at is None else min(self._leave_at, leave_at)

    def _leave(self) -> None:
        with contextlib.suppress(TablewrightError):
            self.batch.close(self.stop, scored=False)
        os._exit(130 if self._signals else 5)

    async def _all(self) -> None:
        budget.bell.set(self._first)
        await asking(self.settings, self.link, self.batch.source.name, self._places)

    async def _places(self, ask: Ask) -> None:
        async with shown(self.batch, self.link, lambda: self.stop, self._last_seconds) as tell:
            with contextlib.suppress(TimeoutError):
                async with self._second.within(None):
                    await asyncio.gather(*(self._place(ask, tell) for _ in range(self.places)))

    def _last_seconds(self) -> float:
        """What a last word may take."""
        left = math.inf if self._leave_at is None else self._leave_at - _LEAVE_SECONDS - time.monotonic()
        return max(0.0, min(left, self.settings.prefect.lost_seconds))

    async def _place(self, ask: Ask, tell: Callable[[], None]) -> None:
        """One task after another."""
        while not self.stop and (turn := self.plan.next(self.places)):
            row = await self._one(turn, ask)
            if not turn.late and row.status != "error":
                self.plan.took(row.seconds)
            self.batch.add(row)
            self.board.end(row)
            tell()

    async def _one(self, turn: Turn, ask: Ask) -> Row:
        began, task = time.monotonic(), turn.task
        stage.listener.set(lambda name, event, _: self.board.hear(task, name, event))
        draft.keeper.set(lambda table: self.batch.keep_draft(task, table))
        try:
            async with asyncio.timeout(turn.seconds + self._grace if turn.seconds else None) as limit:
                ended = await ask(self.batch.request(turn, self.settings))
            return self._judged(row_of(task, ended, evidence_of(ended)).model_copy(update={"late": turn.late}))
        except asyncio.CancelledError as error:
            this = asyncio.current_task()
            if this and this.cancelling():
                raise
            return self._bare(row_of_error(task, error, time.monotonic() - began))  # it cancelled itself
        except Exception as error:  # noqa: BLE001  one task's trouble is its own
            seconds = time.monotonic() - began
            if limit.expired() or (isinstance(error, BudgetError) and self.stop):
                return self._bare(row_of_stop(task, self.stop or "deadline", seconds))
            if not isinstance(error, TablewrightError):
                self.batch.keep_traceback(task, "".join(traceback.format_exception(error)))
            return self._bare(row_of_error(task, error, seconds))

    def _bare(self, row: Row) -> Row:
        """The row of a run that left no files."""
        self.batch.bare.add(row.task)
        return row

    def _judged(self, row: Row) -> Row:
        """The row; a run that the end of the batch left without an answer has not failed by itself."""
        if self.stop and row.rows is None:
            return row.model_copy(update={"status": self.stop, "reason": row_of_stop(row.task, self.stop).reason})
        return row
