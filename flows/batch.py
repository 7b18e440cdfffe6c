"""tasks of a folder → a prediction for each, several at once, to their end, a deadline or a signal; one task's trouble is its own."""

from __future__ import annotations

import asyncio
import os
import signal
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Protocol

from flows.running.launch import launch
from flows.running.tasks import Batch, Row, row_of, row_of_error
from tasks import stage
from tasks.core.errors import TablewrightError
from tasks.core.settings import Settings


class Board(Protocol):
    """Who is told how far the tasks are."""

    def shown(self) -> AbstractContextManager[object]:
        """Shown as long as the batch runs."""

    def hear(self, task: str, name: str, event: stage.StageEvent) -> None:
        """One stage event of a task."""

    def end(self, row: Row) -> None:
        """A task has ended."""


def run_batch(batch: Batch, settings: Settings, concurrency: int, in_prefect: bool, board: Board) -> None:
    """Run the tasks of a batch, `concurrency` at once (0: as the settings say). A signal stops it, a second one at once."""
    _Runner(batch, concurrency or settings.batch.concurrency, settings.batch.grace_seconds, in_prefect, board).run()


class _Runner:
    """Runs a batch in an event loop of another thread: in the main thread Prefect takes SIGTERM for itself, and then
    nobody would write the summary."""

    def __init__(self, batch: Batch, concurrency: int, grace: float, in_prefect: bool, board: Board) -> None:
        self.batch, self.concurrency, self.grace, self.in_prefect = batch, concurrency, grace, in_prefect
        self.board = board
        self._cancel: Callable[[], object] = lambda: None
        self._signals = 0

    def run(self) -> None:
        """Run all tasks. A signal stops them; a second one does not wait for them."""
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(kind, self._stop) for kind in kinds]
        try:
            with self.board.shown(), ThreadPoolExecutor(1) as pool:
                running = pool.submit(copy_context().run, asyncio.run, self._all())
                while not running.done():
                    time.sleep(0.1)
                running.result()
        except asyncio.CancelledError:
            self.batch.close("interrupted")
        finally:
            for kind, handler in zip(kinds, before, strict=True):
                signal.signal(kind, handler)

    def _stop(self, *_: object) -> None:
        self._signals += 1
        if self._signals > 1:
            self.batch.close("interrupted")
            os._exit(130)
        self._cancel()

    async def _all(self) -> None:
        loop, this = asyncio.get_running_loop(), asyncio.current_task()
        self._cancel = lambda: this and loop.call_soon_threadsafe(this.cancel)
        gate = asyncio.Semaphore(self.concurrency)
        try:
            async with asyncio.timeout(self.batch.seconds_left()):
                await asyncio.gather(*(self._one(task, gate) for task in self.batch.tasks))
        except TimeoutError:
            self.batch.close("deadline")
        else:
            self.batch.close("all")

    async def _one(self, task: str, gate: asyncio.Semaphore) -> None:
        async with gate:
            began = time.monotonic()
            stage.listener.set(lambda name, event, _: self.board.hear(task, name, event))
            try:
                row = row_of(task, await launch(self.batch.request(task, self.grace), self.in_prefect))
            except Exception as error:  # noqa: BLE001  one task's trouble is its own
                row = row_of_error(task, error, time.monotonic() - began)
                if not isinstance(error, TablewrightError):
                    self.batch.keep_traceback(task, "".join(traceback.format_exception(error)))
            self.batch.add(row)
            self.board.end(row)
