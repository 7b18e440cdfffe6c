"""Questions → tasks of one flow run on the configured Prefect task runner: threads of this process, or a Dask cluster.

Inside a task the stages are plain calls, because the unit there is the question. A Dask worker that dies loses the questions that
it had begun; the scheduler gives them to others, and what their stages and models said before lies in the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.running.draft import followed
from flows.running.fetched import fetch, sent
from flows.running.request import AnswerRequest
from tasks.core.errors import InputError
from tasks.core.settings import Settings

if TYPE_CHECKING:
    from flows.running.launch import Ask
    from flows.running.session import Ended

_POLL_SECONDS = 0.1
work: ContextVar[Callable[[], Awaitable[None]]] = ContextVar("work")
"""What `flows.deployed.batch_flow` does: a flow's parameters must be plain data."""


async def spread(settings: Settings, name: str, use: Callable[[Ask], Awaitable[None]]) -> None:
    """Let `use` ask many questions, each a task of one flow run called `name`.

    Raises InputError where the task runner's package is not installed, or nothing answers at `machines.scheduler`.
    """
    from flows.deployed import batch_flow
    from flows.runs import store_of

    store = await store_of(settings)

    async def questions() -> None:
        async with started(settings) as runner:

            async def ask(request: AnswerRequest) -> Ended:
                apart, name = sent(request, settings), Path(request.folder).name
                async with followed(apart.draft, store, settings.machines.beat_seconds):
                    ended = await submitted(runner, partial(answer_apart, apart), name)
                return await asyncio.to_thread(fetch, ended, request, store)

            await use(ask)

    token = work.set(questions)
    try:
        await batch_flow(name)
    finally:
        work.reset(token)


@contextlib.asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[Any]:
    """The task runner that `machines.runner` names, as long as the block lasts.

    Raises InputError when its package is not installed, or nothing answers at `machines.scheduler`.
    """
    with _runner(settings) as runner:
        try:
            await asyncio.to_thread(getattr, runner, "client", None)  # once, before many ask for it at once
        except OSError as error:
            raise InputError(
                f"no Dask scheduler answers at {settings.machines.scheduler!r}: {error}",
                "start one (`dask scheduler`), or empty machines.scheduler for a cluster of this machine",
            ) from error
        yield runner


def _runner(settings: Settings) -> Any:
    if settings.machines.runner == "threads":
        from prefect.task_runners import ThreadPoolTaskRunner

        return ThreadPoolTaskRunner()
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise InputError(
            'machines.runner = "dask" needs the package prefect-dask',
            "pip install --no-deps --require-hashes -r requirements-machines.txt",
        ) from error
    if settings.machines.scheduler:
        return DaskTaskRunner(address=settings.machines.scheduler)
    one_each = {"n_workers": settings.machines.shares, "threads_per_worker": 1, "dashboard_address": None}
    return DaskTaskRunner(cluster_kwargs=one_each)


async def submitted(runner: Any, run: Callable[[], Awaitable[Any]], name: str) -> Any:
    """What `run` gives as a task of that name on a started runner; what it raises is raised here. Pickled, it must be."""
    from prefect import task
    from prefect.cache_policies import NO_CACHE

    async def ask_question() -> Any:
        return await run()

    unit = task(name="ask_question", task_run_name=name, cache_policy=NO_CACHE, persist_result=False)(ask_question)
    future = await asyncio.to_thread(runner.submit, unit, parameters={})
    try:
        while not future.wrapped_future.done():
            await asyncio.sleep(_POLL_SECONDS)
    except asyncio.CancelledError:
        future.wrapped_future.cancel()
        raise
    return await asyncio.to_thread(future.result)


async def answer_apart(request: AnswerRequest) -> Ended:
    """The ended run, in a context that knows of no flow around it."""
    from flows.answer import answer

    ended: Ended = await asyncio.create_task(answer(request), context=contextvars.Context())
    return ended
