"""What happens in a run under way → its record, written as stages end, when a model was paid, and every so often whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from flows.running.record import RUNNING
from tasks import stage
from tasks.core.errors import InputError
from tasks.core.files.store import Folder
from tasks.core.llm import calls

if TYPE_CHECKING:
    from flows.running.session import Run

_STAGE_SECONDS = 2.0
"""Least time between two writes of the record, as stages end."""
_PAID_SECONDS = 0.25
"""The same when a model was paid, into a local store: what a killed run has spent must be known."""


@contextlib.asynccontextmanager
async def kept(run: Run) -> AsyncIterator[None]:
    """Keep the record of the run as the block goes on; a store that takes nothing will be heard of at the end."""
    keeper = _Keeper(run)
    tokens = stage.listener.set(keeper.hear), calls.listener.set(keeper.hear_call)
    beating = asyncio.create_task(keeper.beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        stage.listener.reset(tokens[0])
        calls.listener.reset(tokens[1])


class _Keeper:
    """Writes the record of one run, and tells those who listened before."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._stage, self._call = stage.listener.get(), calls.listener.get()
        self._paid_seconds = _PAID_SECONDS if isinstance(run.store.files, Folder) else _STAGE_SECONDS
        self._paid_at = 0.0
        self._unwritten = asyncio.Event()

    def hear(self, name: str, event: stage.StageEvent, seconds: float) -> None:
        """A stage began or ended."""
        if event != "start":
            self.run.stages.append({"stage": name, "event": event, "seconds": round(seconds, 3)})
            if time.monotonic() - self.run.written > _STAGE_SECONDS:
                self._write()
        if self._stage:
            self._stage(name, event, seconds)

    def hear_call(self, call: calls.Call) -> None:
        """A model was asked: the record says so at once, of several at a time a moment later."""
        if call.spent.calls:
            if time.monotonic() - self._paid_at > self._paid_seconds:
                self._paid_at = time.monotonic()
                self._write()
            else:
                self._unwritten.set()
        if self._call:
            self._call(call)

    async def beat(self) -> None:
        """Write what was paid meanwhile, and at least every so often, however long a model thinks; for ever."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.run.settings.machines.beat_seconds):
                    await self._unwritten.wait()
                    await asyncio.sleep(self._paid_seconds)
            self._unwritten.clear()
            self._write()

    def _write(self) -> None:
        with contextlib.suppress(InputError):
            self.run.record(RUNNING)
