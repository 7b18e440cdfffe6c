"""A Prefect server that may go away under a flow run → what the run gives all the same, and one warning that says so.

A run asks nothing of the server while its stages work: the server hears of them through events. It is needed before the first
stage and after the last, and there it may be away.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flows.running import server
from flows.running.session import begun
from tasks import artifacts
from tasks.core.errors import TablewrightError
from tasks.core.sections import PrefectSettings

T = TypeVar("T")
_LOOK_SECONDS = 1.0
_PROBE_SECONDS = 5.0
"""Most that a busy server may take for its health check."""
_MEANS = (
    "Answers and records of runs are complete without it, and no model is asked twice; "
    "`tablewright runs` tells it how they ended, once it is back"
)
_NOISY = "prefect._internal.concurrency"
"""Writes each event that the server did not take to standard error, whatever the level of the console's handler."""


class Link:
    """The Prefect server that the runs of a command are shown on."""

    def __init__(self, prefect: PrefectSettings, warn: Callable[[str], None]) -> None:
        """`warn` tells the user once that the server is lost, from any thread."""
        self.url, self.seconds, self._warn = prefect.api_url, prefect.lost_seconds, warn
        self.lost = False
        """Whether it was away when it was last asked for."""
        self.warning = ""
        """What the user was told of its loss; empty as long as it never was lost."""
        self._once = threading.Lock()
        logging.getLogger(_NOISY).addFilter(self._passes)

    async def gone(self) -> bool:
        """Whether it stays away for `prefect.lost_seconds`; one that was lost is asked once. Says so to the user, the first time."""
        until = time.monotonic() + (0 if self.lost else self.seconds)
        while not await asyncio.to_thread(self._answers):
            if time.monotonic() >= until:
                self.lose()
                return True
            await asyncio.sleep(min(_LOOK_SECONDS, self.seconds))
        self.lost = False
        return False

    async def there(self) -> bool:
        """The contrary, for those who would show something on it."""
        return not await self.gone()

    def lose(self) -> None:
        """Take it for lost, and say so; from then on Prefect's own words about that are not shown."""
        self.lost = True
        self._tell("went away: its UI does not show all of what ran, nor how it ended")
        logging.raiseExceptions = False  # else the thread that sends logs to the server writes to standard error

    async def refused(self, error: BaseException) -> None:
        """It did not take how a run ended: it is lost, or has its reasons."""
        if not await self.gone():
            self._tell(f"did not take how a run ended ({type(error).__name__}: {error}): its UI does not show that")

    def _tell(self, what: str) -> None:
        with self._once:
            if self.warning:
                return
            self.warning = f"the Prefect server at {self.url} {what}. {_MEANS}"
        self._warn(self.warning)

    def _answers(self) -> bool:
        return server.healthy(self.url, min(_PROBE_SECONDS, self.seconds))

    def _passes(self, record: logging.LogRecord) -> bool:
        """Whether a record is shown: Prefect has tried for seconds before it complains, so one look is enough."""
        if record.levelno < logging.ERROR or (not self.lost and self._answers()):
            return True
        self.lose()
        return False


@dataclass
class Witness:
    """Of one flow run: how far its body came, whatever the server heard of it."""

    opens: bool = True
    """Whether the body opens one run, and needs the server until then."""
    runs: list[str] = field(default_factory=list)
    began: bool = False
    over: bool = False
    result: tuple[Any] | None = None
    error: BaseException | None = None
    flow_run: str = ""
    """Its id, once its body has begun."""
    heard: bool = True
    """Whether the server knows how it ended."""

    @property
    def under_way(self) -> bool:
        """Whether the body is at work, and waits for no server."""
        return not self.over and bool(self.runs if self.opens else self.began)


_witness: ContextVar[Witness | None] = ContextVar("witness", default=None)


async def witnessed(body: Awaitable[T]) -> T:
    """What the body of a flow gives; whoever waits for the flow run by `through` knows it at once."""
    from prefect.runtime import flow_run

    seen = _witness.get() or Witness()
    seen.began, seen.flow_run = True, str(flow_run.id or "")
    try:
        result = await body
    except BaseException as error:
        seen.error = error
        raise
    finally:
        seen.over = True
    seen.result = (result,)
    return result


async def through(
    link: Link, seen: Witness, flow: Callable[[], Awaitable[Any]], plainly: Callable[[str], Awaitable[Any]]
) -> Any:
    """What a flow run gives, whatever becomes of the server. `flow` gives the result or the error of its body, which is `witnessed`.

    Where the body could not begin or was broken by the loss, `plainly` is asked to do it without a server, with the id of the
    run that it had opened, or none.
    """
    import httpx

    if link.lost and await link.gone():
        seen.heard = False
        return await plainly("")
    try:
        ended = await _watched(link, seen, flow)
        error = ended.exception() if ended else None
    except (httpx.HTTPError, RuntimeError) as broken:  # of the first request, before the flow run
        ended, error = None, broken
    seen.heard = ended is not None and error is None
    if seen.over and not seen.heard and (seen.result or isinstance(seen.error, TablewrightError)):
        if error:
            await link.refused(error)
        if seen.error:
            raise seen.error
    if seen.result:
        return seen.result[0]
    if ended and not error:
        if isinstance(value := ended.result(), BaseException):
            raise value
        return value
    if error and not isinstance(error, httpx.HTTPError) and (not isinstance(error, Exception) or not await link.gone()):
        raise error
    link.lose()
    return await plainly("".join(seen.runs[-1:]))


async def _watched(link: Link, seen: Witness, flow: Callable[[], Awaitable[Any]]) -> asyncio.Task[Any] | None:
    """The flow run, ended; None when the server is lost, and the flow run given up."""
    from prefect.context import AsyncClientContext

    running: asyncio.Task[Any] | None = None
    try:
        async with AsyncClientContext.get_or_create():  # the engine uses it; closed, it tries no request again
            running = _begin(link, seen, flow)
            try:
                while not running.done():
                    await asyncio.wait({running}, timeout=_LOOK_SECONDS)
                    if not running.done() and not seen.under_way and await link.gone() and not running.done():
                        return None
            except asyncio.CancelledError:
                running.cancel()
                await asyncio.wait({running}, timeout=link.seconds)
                raise
    finally:
        if running and not running.done():
            running.cancel()
            await asyncio.wait({running}, timeout=link.seconds)
    return running


def _begin(link: Link, seen: Witness, flow: Callable[[], Awaitable[Any]]) -> asyncio.Task[Any]:
    """Start the flow run where its body finds the witness, and what shows artifacts the link."""

    async def run() -> Any:
        return await flow()

    def prepare() -> None:
        told = begun.get()
        if told is None:
            begun.set(seen.runs)
        else:
            seen.runs = told
        _witness.set(seen)
        artifacts.there.set(link.there)

    context = copy_context()
    context.run(prepare)
    return asyncio.get_running_loop().create_task(run(), context=context)
