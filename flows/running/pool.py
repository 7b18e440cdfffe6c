"""A question → a flow run that a worker of a work pool takes, until it ends; one whose machine is lost, or whose process crashed, starts again.

A run that starts again goes on under its id: what its stages and models said before is in the store, and is not asked again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from flows.running import record
from flows.running.draft import followed
from flows.running.fetched import fetch, sent
from flows.running.record import RunRecord
from flows.running.request import AnswerRequest
from flows.running.session import Ended, ending_of
from tasks.core.errors import InputError, TablewrightError
from tasks.core.files.store import Store
from tasks.core.sections import MachinesSettings
from tasks.core.settings import Settings

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.objects import State

_POLL_SECONDS = 1.0
_PAGE = 100
"""Flow runs that are asked after in one request."""
_CRASH_SECONDS = 5.0
"""A runner reports a crash a little late; a new start before that would be ended by the report."""


@dataclass
class Awaited:
    """A flow run that somebody waits for."""

    id: UUID
    ended: asyncio.Future[State[Any]]
    moved: float = field(default_factory=time.monotonic)
    """When it was last seen to live: it changed its state, or its record."""
    looked: float = 0.0
    state: str = ""
    record: str = ""
    """Name of its record, once it has one."""
    said: bytes = b""
    """Its record, when last looked at."""
    again: int = 0


class Pool:
    """Runs of one deployment."""

    def __init__(self, settings: Settings, client: PrefectClient, deployment: UUID, store: Store) -> None:
        self.settings, self.client, self.deployment, self.store = settings, client, deployment, store
        self.limits: MachinesSettings = settings.machines
        self._awaited: dict[UUID, Awaited] = {}

    async def ask(self, request: AnswerRequest) -> Ended:
        """Run the request to its end somewhere, its files here. Raises TablewrightError when it has none."""
        apart = sent(request, self.settings)
        async with followed(apart.draft, self.store, self.limits.beat_seconds):
            ended = await self._wait(apart)
        return await asyncio.to_thread(fetch, ended, request, self.store)

    async def _wait(self, apart: AnswerRequest) -> Ended:
        """What a flow run of this request comes to."""
        parameters = {"request": apart.model_dump(mode="json")}
        run = await self.client.create_flow_run_from_deployment(self.deployment, parameters=parameters)
        awaited = self._awaited[run.id] = Awaited(run.id, asyncio.get_running_loop().create_future())
        try:
            state = await awaited.ended
        except asyncio.CancelledError:
            await asyncio.shield(self._cancel(run.id))
            raise
        finally:
            self._awaited.pop(run.id, None)
        found = await asyncio.to_thread(self._record, awaited)
        if found and found.ended:
            return Ended.model_validate_json(await asyncio.to_thread(self.store.get, found.ended))
        raise TablewrightError(
            (found.reason if found else "") or state.message or f"the flow run ended as {state.name}",
            f"look at flow run {run.id} in the Prefect UI",
        )

    async def watch(self) -> None:
        """Tell those who wait of ends, and start anew what is lost, for ever; a server that is away is asked again."""
        import httpx
        from prefect.exceptions import PrefectException

        while True:
            with contextlib.suppress(httpx.HTTPError, PrefectException, InputError):
                waiting = list(self._awaited.values())
                for start in range(0, len(waiting), _PAGE):
                    await self._look({awaited.id: awaited for awaited in waiting[start : start + _PAGE]})
            await asyncio.sleep(_POLL_SECONDS)

    async def _look(self, waiting: dict[UUID, Awaited]) -> None:
        from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

        chosen = FlowRunFilter(id=FlowRunFilterId(any_=list(waiting)))
        for run in await self.client.read_flow_runs(flow_run_filter=chosen, limit=_PAGE):
            awaited, state = waiting[run.id], run.state
            if state is None or awaited.ended.done():
                continue
            now = time.monotonic()
            if awaited.state != str(state.id):
                awaited.state, awaited.moved = str(state.id), now
            if state.is_crashed():
                if awaited.again >= self.limits.again:
                    awaited.ended.set_result(state)
                elif now - awaited.moved > _CRASH_SECONDS:
                    await self._again(awaited)
            elif state.is_final():
                awaited.ended.set_result(state)
            elif not state.is_scheduled() and await self._is_lost(awaited):
                await self._crash(awaited)

    async def _is_lost(self, awaited: Awaited) -> bool:
        now = time.monotonic()
        if now - awaited.looked >= self.limits.beat_seconds:
            awaited.looked = now
            if (said := await asyncio.to_thread(self._said, awaited)) != awaited.said:
                awaited.said, awaited.moved = said, now
        return now - awaited.moved > self.limits.lost_seconds

    def _said(self, awaited: Awaited) -> bytes:
        self._record(awaited)
        return (self.store.read(f"{record.PLACE}/{awaited.record}.json") if awaited.record else None) or b""

    def _record(self, awaited: Awaited) -> RunRecord | None:
        """The record of the flow run; None as long as it has none."""
        ending = ending_of(str(awaited.id))
        names = [awaited.record] if awaited.record else record.names(self.store)
        for name in names:
            if name.endswith(ending) and (found := record.read(self.store, name)) and found.prefect == str(awaited.id):
                awaited.record = name
                return found
        return None

    async def _crash(self, awaited: Awaited) -> None:
        from prefect.states import Crashed

        said = f"its record has stood still for {self.limits.lost_seconds:g} s: the machine that ran it is lost"
        await self.client.set_flow_run_state(awaited.id, Crashed(message=said), force=True)

    async def _again(self, awaited: Awaited) -> None:
        from prefect.states import AwaitingRetry

        awaited.again += 1
        awaited.moved, awaited.said, awaited.record = time.monotonic(), b"", ""
        message = f"start {awaited.again + 1}, after a lost machine or a crash"
        await self.client.set_flow_run_state(awaited.id, AwaitingRetry(message=message), force=True)

    async def _cancel(self, run: UUID) -> None:
        import httpx
        from prefect.exceptions import PrefectException
        from prefect.states import Cancelling

        with contextlib.suppress(httpx.HTTPError, PrefectException):
            await self.client.set_flow_run_state(run, Cancelling())


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Pool]:
    """The pool of these settings, watched as long as the block lasts. Raises InputError when there is no such deployment."""
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    from flows.runs import store_of

    store = await store_of(settings)
    async with get_client() as client:
        try:
            found = await client.read_deployment_by_name(settings.machines.deployment)
        except (ObjectNotFound, ValueError) as error:
            raise InputError(
                f"there is no deployment {settings.machines.deployment!r} on the Prefect server",
                "create it: prefect deploy --prefect-file deployments/prefect.yaml --all",
            ) from error
        pool = Pool(settings, client, found.id, store)
        watching = asyncio.create_task(pool.watch())
        try:
            yield pool
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
