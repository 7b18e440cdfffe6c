"""A batch under way → how far it is, on the Prefect server as it grows: in the flow run around it, or in one of its own.

It is told beside the tasks, so that a slow or lost server holds up none of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from tasks import artifacts
from tasks.core.wording import counted

if TYPE_CHECKING:
    from uuid import UUID

    from prefect.client.schemas.objects import State

    from flows.running.link import Link
    from flows.running.rows import Stop
    from flows.running.tasks import Batch

KEY, TABLE = "batch-progress", "batch"
_LEAST_SECONDS = 2.0
"""Between two updates: each is a request to the server."""


@contextlib.asynccontextmanager
async def shown(
    batch: Batch, link: Link | None, stop: Callable[[], Stop | None], seconds: Callable[[], float]
) -> AsyncIterator[Callable[[], None]]:
    """Show the batch while the block runs, which calls what it gets whenever a task has ended.

    `stop`: what ended the batch early. Its last word may take so many `seconds`: one that was stopped must be gone soon.
    """
    if link is None:
        yield lambda: None
        return
    ticker = _Ticker(batch, stop)
    artifacts.there.set(link.there)
    ticking = asyncio.create_task(ticker.run())
    try:
        yield ticker.news.set
    finally:
        ticker.close()
        await asyncio.wait({ticking}, timeout=seconds())
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)


class _Ticker:
    """Tells of one batch."""

    def __init__(self, batch: Batch, stop: Callable[[], Stop | None]) -> None:
        self.batch, self.stop = batch, stop
        self.news, self._closed = asyncio.Event(), asyncio.Event()
        self._run: UUID | None = None
        self._own = False
        """Whether the flow run is the batch's own, whose end is told here."""
        self._progress: UUID | None = None

    def close(self) -> None:
        """The batch has ended: say the last word."""
        self._closed.set()
        self.news.set()

    async def run(self) -> None:
        """Tell of what is new, not too often, and at last of the end."""
        while not self._closed.is_set():
            await artifacts.guarded("progress of the batch", self._tell())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LEAST_SECONDS):
                    await self._closed.wait()
            await self.news.wait()
            self.news.clear()
        await artifacts.guarded("the end of the batch", self._end())

    @property
    def said(self) -> str:
        """How far it is."""
        kinds = Counter(row.status for row in self.batch.rows.values())
        head = f"{len(self.batch.rows)} of {counted(len(self.batch.tasks), 'task')}"
        return ": ".join(filter(None, [head, ", ".join(f"{count} {kind}" for kind, count in kinds.items())]))

    async def _tell(self) -> None:
        from prefect.client.orchestration import get_client
        from prefect.client.schemas.actions import ArtifactUpdate

        percent = 100.0 * len(self.batch.rows) / len(self.batch.tasks)
        async with get_client() as client:
            if self._progress is None:
                self._progress = await self._create(client, "progress", KEY, percent, self.said)
            else:
                await client.update_artifact(self._progress, ArtifactUpdate(data=percent, description=self.said))

    async def _create(self, client: Any, kind: str, key: str, data: Any, about: str) -> UUID:
        """A new artifact of the flow run; Prefect's own functions take the run that they are called in alone."""
        from prefect.client.schemas.actions import ArtifactCreate

        if self._run is None:
            await self._find_run(client)
        made = ArtifactCreate(type=kind, key=key, data=data, description=about, flow_run_id=self._run)
        return (await client.create_artifact(made)).id  # type: ignore[no-any-return]

    async def _find_run(self, client: Any) -> None:
        from prefect.context import FlowRunContext
        from prefect.states import Running

        from flows.deployed import batch_flow

        context = FlowRunContext.get()
        if context and context.flow_run:
            self._run = context.flow_run.id
            return
        name = self.batch.source.name
        made = await client.create_flow_run(batch_flow, name=name, parameters={"folder": name}, state=Running())
        self._run, self._own = made.id, True

    async def _end(self) -> None:
        from prefect.client.orchestration import get_client

        await self._tell()
        rows = [
            {
                **row.model_dump(include={"task", "status", "seconds", "rows", "reason"}),
                "tokens": row.tokens_in + row.tokens_out,
            }
            for row in self.batch.rows.values()
        ]
        async with get_client() as client:
            await self._create(client, "table", TABLE, json.dumps(artifacts.within(rows)), self.said)
            if self._own:
                await client.set_flow_run_state(self._run, self._state(), force=True)  # type: ignore[arg-type]

    def _state(self) -> State[Any]:
        """Tasks that failed are told in its message: they have not stopped it."""
        from prefect.states import Cancelled, Completed, Failed

        kinds = {"interrupted": Cancelled, "deadline": Failed}
        made = kinds[stop] if (stop := self.stop()) and len(self.batch.rows) < len(self.batch.tasks) else Completed
        return made(message=f"{self.said}. Files: {self.batch.target}")
