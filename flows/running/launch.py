"""A request → the ended run: in this process (under Prefect when its server answers, else as plain calls over the same records), as a task of a Prefect task runner, or where a worker of a work pool takes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from flows.running import server
from flows.running.request import AnswerRequest
from flows.running.session import Ended
from tasks.core import settings
from tasks.core.errors import InputError
from tasks.core.settings import Settings

Say = Callable[[str], None]
Ask = Callable[[AnswerRequest], Awaitable[Ended]]
"""Runs a request to its end, wherever that is, and leaves its files in the folder that it names."""


def choose(chosen: Settings, no_prefect: bool, say: Say) -> bool:
    """Whether Prefect runs the stages; says so when it does not though it may."""
    if no_prefect:
        return False
    if not server.reach(chosen.prefect):
        url = chosen.prefect.api_url
        say(f"no Prefect server at {url}: the same stages run as plain calls (`tablewright serve` starts one)")
        return False
    settings.set_default("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    return True


async def asking(chosen: Settings, in_prefect: bool, name: str, use: Callable[[Ask], Awaitable[None]]) -> None:
    """Let `use` ask many questions where `machines.runner` says; `name` is what the UI calls it all.

    Raises InputError when that needs a Prefect server, a deployment or a package that is not there.
    """
    runner = chosen.machines.runner
    if runner == "here":
        await use(partial(launch, in_prefect=in_prefect))
        return
    if not in_prefect:
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

    await spread(chosen, name, use)


async def launch(request: AnswerRequest, in_prefect: bool) -> Ended:
    """Run the request to its end, in this process."""
    if in_prefect:
        from flows.deployed import answer_flow

        state: Any = await answer_flow(request, return_state=True)
        ended = await state.aresult(raise_on_failure=False)
        if isinstance(ended, Ended):
            return ended
        raise ended
    from flows.answer import answer

    return await answer(request)
