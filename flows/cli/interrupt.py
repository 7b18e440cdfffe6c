"""A coroutine → its result, from an event loop of another thread; a signal cancels it, a later one ends the process at once.

In the main thread Prefect takes SIGTERM for itself, and sends it a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, Generic, TypeVar

import typer

from flows.cli.app import as_called, err, print_json

T = TypeVar("T")
EXIT_CODE = 130
_KINDS = (signal.SIGINT, signal.SIGTERM)
_SAME_SECONDS = 1.0
"""Signals that come this soon after the first are the same wish: `timeout` sends one to its child and one to the group."""
_LEAVE_SECONDS = 10.0
"""After the first signal; then the process ends whatever still holds it up."""


class Interrupted(Exception):
    """A signal ended the work before its result; it has been said."""


def run(work: Coroutine[Any, Any, T], say: Callable[[], None]) -> T:
    """The result of the work; call it in the main thread. `say` tells the user of the interruption, before the process ends.

    Raises Interrupted after a signal. From then on signals end the process.
    """
    return _Runner(work, say).run()


def follow(work: Coroutine[Any, Any, T], as_json: bool) -> T:
    """The result of work that opens a run. After a signal the user is told how the run goes on; raises typer.Exit then."""
    from flows.running import session

    runs: list[str] = []
    session.begun.set(runs)
    try:
        return run(work, lambda: _interrupted(runs, as_json))
    except Interrupted:
        raise typer.Exit(EXIT_CODE) from None


def _interrupted(runs: list[str], as_json: bool) -> None:
    """Say how the last of these runs goes on; there is none when the signal came before it was opened."""
    if as_json:
        reason = "it was interrupted before it ended; what is done is kept for the next run"
        print_json({"status": "interrupted", "reason": reason, "run": "".join(runs[-1:]), "exit_code": EXIT_CODE})
    step = f"; `tablewright resume {runs[-1]}` goes on" if runs else ""
    err.print(as_called(f"interrupted{step}"))


class _Runner(Generic[T]):
    def __init__(self, work: Coroutine[Any, Any, T], say: Callable[[], None]) -> None:
        self._work, self._say = work, say
        self._first: float | None = None
        self._said = False
        self._cancel: Callable[[], object] = lambda: None

    def run(self) -> T:
        before = [signal.signal(kind, self._signalled) for kind in _KINDS]
        with ThreadPoolExecutor(1) as pool:
            running: Future[T] = pool.submit(copy_context().run, asyncio.run, self._all())
            while not running.done():
                wait([running], timeout=0.2)
        if self._first is not None and running.exception() is not None:
            self._tell()
            raise Interrupted from None
        for kind, handler in zip(_KINDS, before, strict=True):
            signal.signal(kind, handler)
        return running.result()

    async def _all(self) -> T:
        task, loop = asyncio.ensure_future(self._work), asyncio.get_running_loop()
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self._first is not None:  # it came before there was anything to cancel
            task.cancel()
        return await task

    def _signalled(self, *_: object) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now
            leaving = threading.Timer(_LEAVE_SECONDS, self._leave)
            leaving.daemon = True
            leaving.start()
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                self._cancel()
        elif now - self._first > _SAME_SECONDS:
            self._leave()

    def _tell(self) -> None:
        if not self._said:
            self._said = True
            self._say()

    def _leave(self) -> None:
        self._tell()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(EXIT_CODE)
