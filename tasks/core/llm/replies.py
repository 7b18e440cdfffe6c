"""Request → all its samples, each from the journal or from an endpoint, journaled and counted as it arrives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from tasks.core import notice, timeline
from tasks.core.errors import InputError, ModelError
from tasks.core.llm import budget, calls, client, endpoints, tokens
from tasks.core.llm.budget import Meter
from tasks.core.llm.endpoints import Endpoint
from tasks.core.llm.journal import Journal
from tasks.core.llm.request import Reply, Request, Response
from tasks.core.llm.retry import Carrier
from tasks.core.models.run import StageSpend, Usage
from tasks.core.settings import Settings

EMPTY_TRIES = 2
"""Times that a request is sent whose replies are all empty."""


@dataclass(frozen=True)
class Batch:
    """The samples of one request, in order, and what they took."""

    replies: tuple[Reply, ...]
    usage: Usage
    notes: tuple[str, ...] = ()
    """What the endpoint did not take."""


class Source:
    """Where the replies of one run come from."""

    def __init__(self, settings: Settings, journal: Journal, meter: Meter) -> None:
        self.settings = settings
        self.journal = journal
        self.meter = meter
        self._carrier = Carrier(settings.retry, meter, client.send)
        self._counted: set[str] = set()
        """Journal keys of all replies that the meter knows: a stage that begins again reads its own ones,
        which this run has paid for or counted already."""
        self._served = ""
        self._served_at = 0.0
        self._renewed = False

    async def replies(self, request: Request, attempt: int) -> Batch:
        """Every sample of the request. Raises ModelError, InputError, BudgetError.

        While another run asks for the same, its replies are waited for.
        """
        timeline.here()  # the journal may be waited for before the request begins
        old = self._journaled(request, attempt)
        if len(old) == len(request.indices):
            return self._batch(request, attempt, old, {}, {})
        async with self.journal.turn(request, attempt, self.meter.seconds_left()):
            old = self._journaled(request, attempt)
            notes: dict[str, None] = {}
            new: dict[int, Reply] = {}
            if missing := [index for index in request.indices if index not in old]:
                new = await self._fetch(request, missing, attempt, notes)
                rest = [index for index in missing if index not in new]  # of a server without `n`
                for more in await _all([self._fetch(request, [index], attempt, notes) for index in rest]):
                    new |= more
            batch = self._batch(request, attempt, old, new, notes)
            if not is_final(batch.replies, attempt):
                self._keep_the_rest(request, new, attempt)
        return batch

    def _journaled(self, request: Request, attempt: int) -> dict[int, Reply]:
        found = {index: self.journal.find(request, index, attempt) for index in request.indices}
        return {index: reply for index, reply in found.items() if reply}

    def _batch(
        self, request: Request, attempt: int, old: dict[int, Reply], new: dict[int, Reply], notes: dict[str, None]
    ) -> Batch:
        if old:
            spent = StageSpend(stage=budget.current_stage(), journaled=len(old))
            self.meter.add(spent.model_copy(update={"journaled": self._count(request, attempt, old)}))
            calls.journaled(request.role, request.model, spent)
        self._count(request, attempt, new)
        replies = tuple(reply for _, reply in sorted((old | new).items()))
        return Batch(replies, _usage(replies, journaled=len(old)), tuple(notes))

    def _count(self, request: Request, attempt: int, samples: Iterable[int]) -> int:
        """How many of these the meter has not counted yet; from now on it has."""
        known = len(self._counted)
        self._counted |= {self.journal.digest(request, sample, attempt) for sample in samples}
        return len(self._counted) - known

    async def _fetch(
        self, request: Request, indices: list[int], attempt: int, notes: dict[str, None]
    ) -> dict[int, Reply]:
        """Replies of an endpoint for the first of these samples, as many as one request brings."""
        role = self.settings.role(request.role)
        prompt = tokens.count_messages(list(request.messages))
        with (
            self.meter.reserve(len(indices), prompt, request),
            calls.heard(request.role, request.model, role.endpoints) as call,
        ):
            response = await self._send(request.of(len(indices)))
            found = dict(zip(indices, response.replies, strict=False))
            call.spent = _spend(response, tuple(found.values()))
            self.meter.add(call.spent)
        notes |= dict.fromkeys(response.notes)
        for index, reply in found.items():
            if reply.useful:
                self.journal.keep(request, index, attempt, reply)
        return found

    async def _send(self, request: Request) -> Response:
        """What an endpoint gives; a local model that ended while the run used it is started anew, once in a run."""
        role, choices = self.settings.role(request.role), await self._endpoints(request.role)
        if any(each.settings.prefix_seconds for each in choices):
            await client.ready()  # whoever waits for another one counts from the moment in which that was sent
        served = self._served
        try:
            return await self._carrier.send(request, role, choices)
        except ModelError as error:
            ours = any(each.settings.serve and each.settings.url == served for each in choices)
            if not (error.transient and ours and self._is_gone(served)):
                raise
        return await self._carrier.send(request, role, await self._endpoints(request.role))

    def _is_gone(self, served: str) -> bool:
        """Whether the local model at this URL has ended and the next request finds another; True once in a run.

        Requests that were under way together all hear of the same end.
        """
        from tasks.core.llm.local import serve

        if self._served == served:
            if self._renewed or serve.lives(self.settings, served):
                return False
            self._renewed, self._served = True, ""
            notice.say("the local model has ended: starting it anew")
        return True

    def _keep_the_rest(self, request: Request, new: dict[int, Reply], attempt: int) -> None:
        """Journal replies of no use when the run goes on from them, so that a replay takes the same way.

        Kept as the last word they would bar every later run from asking again.
        """
        for index, reply in new.items():
            if not reply.useful:
                self.journal.keep(request, index, attempt, reply)

    async def _endpoints(self, role: str) -> list[Endpoint]:
        found = []
        for name in self.settings.role(role).endpoints:
            settings = self.settings.endpoint(name)
            if not settings.model:
                raise InputError(f"no model is set for endpoint {name!r}", endpoints.nameless(name))
            if settings.serve and not settings.url:
                settings = settings.model_copy(update={"url": await self._local_model()})
            found.append(endpoints.known(name, settings))
        return found

    async def _local_model(self) -> str:
        """URL of the model that this machine serves; started by the first request that the journal does not answer."""
        now = time.monotonic()
        if not self._served or now - self._served_at > self.settings.local.idle_seconds / 2:
            from tasks.core.llm.local import serve

            self._served = await serve.ensure(self.settings, notice.say)
        self._served_at = now
        return self._served


def is_final(replies: tuple[Reply, ...], attempt: int) -> bool:
    """Whether nothing can follow on these replies: all refuse, or all are empty once too often."""
    if all(reply.refused for reply in replies):
        return True
    return attempt + 1 >= EMPTY_TRIES and all(reply.empty for reply in replies)


def _usage(replies: tuple[Reply, ...], journaled: int) -> Usage:
    return Usage(
        calls=len(replies) - journaled,
        journaled=journaled,
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_cached=sum(reply.tokens_cached for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
    )


def _spend(response: Response, replies: tuple[Reply, ...]) -> StageSpend:
    usage = _usage(replies, journaled=0)
    return StageSpend(
        stage=budget.current_stage(),
        calls=usage.calls,
        tokens_in=usage.tokens_in,
        tokens_cached=usage.tokens_cached,
        tokens_out=usage.tokens_out,
        money=response.money,
        seconds=response.seconds,
    )


async def _all(work: list[Coroutine[Any, Any, dict[int, Reply]]]) -> list[dict[int, Reply]]:
    """Results of all; when one fails the others still finish, so that what they bring is kept."""
    results = await asyncio.gather(*work, return_exceptions=True)
    found = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found
