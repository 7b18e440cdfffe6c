"""A request → the ended run: in this process (under Prefect when its server answers, else as plain calls over the same records), as a task of a Prefect task runner, or where a worker of a work pool takes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from flows.running import record, server
from flows.running.link import Link, Witness, through
from flows.running.request import AnswerRequest
from flows.running.session import Ended
from tasks.core import settings
from tasks.core.errors import InputError
from tasks.core.settings import Settings

Say = Callable[[str], None]
Ask = Callable[[AnswerRequest], Awaitable[Ended]]
"""Runs a request to its end, wherever that is, and leaves its files in the folder that it names."""


def choose(chosen: Settings, no_prefect: bool, say: Say, warn: Say = lambda _: None) -> Link | None:
    """The Prefect server that runs the stages, None without one; says so when there is none though there may be.

    `warn` is told when it goes away later.
    """
    if no_prefect:
        return None
    if not server.reach(chosen.prefect):
        url = chosen.prefect.api_url
        say(f"no Prefect server at {url}: the same stages run as plain calls (`tablewright serve` starts one)")
        return None
    settings.set_default("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    return Link(chosen.prefect, warn)


async def asking(chosen: Settings, link: Link | None, name: str, use: Callable[[Ask], Awaitable[None]]) -> None:
    """Let `use` ask many questions where `machines.runner` says; `name` is what the UI calls it all.

    Raises InputError when that needs a Prefect server, a deployment or a package that is not there.
    """
    runner = chosen.machines.runner
    if runner == "here":
        await use(partial(launch, link=link))
        return
    if not link:
        raise InputError(
            f"machines.runner = {runner!r} needs a Prefect server, and none is used",
            f'start one at {chosen.prefect.api_url} (`tablewright serve`), or set machines.runner = "here"',
        )
    if runner == "pool":
        from flows.running.pool import opened

        async with opened(chosen) as pool:
            await use(pool.ask)
        return
    from flows.running.spread import spread

    async def plainly(_: str) -> None:
        await use(partial(launch, link=None))

    await through(link, Witness(opens=False), lambda: spread(chosen, name, use), plainly)


async def launch(request: AnswerRequest, link: Link | None) -> Ended:
    """Run the request to its end, in this process; where a Prefect server goes away under it, without one."""
    from flows.answer import answer

    if link is None:
        return await answer(request)
    from flows.deployed import answer_flow

    async def flow() -> Any:
        state: Any = await answer_flow(request, return_state=True)
        return await state.aresult(raise_on_failure=False)

    async def plainly(run: str) -> Ended:
        return await answer(request.model_copy(update={"run": run or request.run}))

    seen = Witness()
    ended: Ended = await through(link, seen, flow, plainly)
    await _note(request, ended.run, seen)
    return ended


async def _note(request: AnswerRequest, run: str, seen: Witness) -> None:
    """Write in the run's record whether the server must still be told how it ended; a block of that server's is not asked for."""
    from flows.running.storage import is_url
    from flows.runs import store_of

    chosen = settings.load(request.profile, request.overrides())
    if chosen.store.block and not is_url(chosen.store.block):
        return
    store = await store_of(chosen)
    if found := record.read(store, run):
        shown = found.prefect or seen.flow_run
        found.model_copy(update={"untold": bool(shown) and not seen.heard, "prefect": shown}).save(store)
