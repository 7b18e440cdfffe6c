"""A prompt and items → verdicts by several rounds of one question, asked only as long as they can change an outcome.

Every round sends the same prompt; its number is its sample index, so the journal keeps the rounds apart. A round that
the endpoint did not answer keeps its number and is asked again; one of no use has used its number up.
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import ballots, door, structured
from tasks.core.llm.ballots import Ballot
from tasks.core.llm.request import Reply
from tasks.core.llm.structured import Invalid
from tasks.core.models.document import Verdicts
from tasks.core.models.run import Usage
from tasks.core.sections import VoteSettings


@dataclass(frozen=True)
class Slate:
    """What is voted on."""

    items: tuple[str, ...]
    """Exact names, as the prompt shows them."""
    always_keep: tuple[str, ...] = ()
    """Relevant without a vote."""
    field: str = "doc_name"
    """What the reply calls an item's name."""


_MARGIN = 200
"""Tokens that the estimate of a prompt may be short by."""


def room(role: str) -> int:
    """Tokens that the prompt of a vote may have: what the role's model reads at once, less the reply."""
    chosen = door.current().settings.role(role)
    return chosen.context_tokens - min(chosen.max_tokens, chosen.context_tokens // 4) - _MARGIN


async def vote(role: str, messages: list[door.Message], slate: Slate, settings: VoteSettings) -> Verdicts:
    """Judge all items of the slate in every round. Without a single round everything is relevant and `error` says why.

    Raises InputError; a model's failure is part of the verdicts.
    """
    items = slate.items
    if not items:
        return ballots.aggregate(items, (), settings.rounds, slate.always_keep)
    poll = _Poll(role, messages, items, reply_model(slate.field))
    needed = ballots.first_rounds(settings.rounds)
    for _ in range(settings.rounds + settings.extra_batches):
        await poll.batch(needed)
        needed = ballots.further_rounds(items, poll.ballots, settings.rounds)
        if not needed or poll.stopped:
            break
    return _result(poll, settings, slate)


@functools.cache
def reply_model(name: str) -> type[BaseModel]:
    """The reply: verdicts of a name, a reason and only then a judgement. Pydantic keeps the order of fields."""
    fields: dict[str, Any] = {
        name: (str, Field(description="exactly as listed")),
        "reason": (str, Field(default="", description="one sentence, before judging")),
        "relevant": (bool, ...),
    }
    verdict = create_model("Verdict", **fields)
    return create_model("Ballot", verdicts=(list[verdict], ...))  # type: ignore[valid-type]


@dataclass
class _Poll:
    """One vote under way."""

    role: str
    messages: list[door.Message]
    items: tuple[str, ...]
    model: type[BaseModel]
    cast: dict[int, Ballot | None] = field(default_factory=dict)
    """By round number; None = it was of no use."""
    usage: Usage = field(default_factory=Usage)
    errors: list[ModelError | BudgetError] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def ballots(self) -> list[Ballot]:
        return [ballot for _, ballot in sorted(self.cast.items()) if ballot is not None]

    @property
    def stopped(self) -> bool:
        """No further call will be answered."""
        return any(isinstance(error, BudgetError) for error in self.errors)

    async def batch(self, size: int) -> None:
        """Ask so many rounds at once: the lowest numbers that have no reply yet."""
        free = [number for number in range(len(self.cast) + size) if number not in self.cast][:size]
        for number, result in zip(free, await asyncio.gather(*map(self._round, free)), strict=True):
            if isinstance(result, ModelError | BudgetError):
                self.errors.append(result)
                if isinstance(result, ModelError) and not result.transient:
                    self.cast[number] = None
            else:
                self.cast[number] = result

    async def _round(self, number: int) -> Ballot | ModelError | BudgetError | None:
        try:
            asked = await door.current().ask_read(
                self.role, self.messages, self.model, self._read, samples=range(number, number + 1)
            )
        except (ModelError, BudgetError) as error:
            return error
        self.usage += asked.usage
        return asked.value[0]

    def _read(self, reply: Reply) -> tuple[Ballot | None]:
        """Raises Invalid only for a reply that was cut off, which is then asked for at greater length."""
        try:
            told = structured.parse(reply.text, self.model).model_dump()["verdicts"]
        except Invalid as problem:
            if reply.finish == "length":
                raise
            self.unread.append(str(problem))
            return (None,)
        return (ballots.ballot(self.items, ((*verdict.values(),) for verdict in told)),)  # type: ignore[misc]


def _result(poll: _Poll, settings: VoteSettings, slate: Slate) -> Verdicts:
    verdicts = ballots.aggregate(poll.items, poll.ballots, settings.rounds, slate.always_keep)
    unsettled: Literal["", "stopped", "transient"] = ""
    error = ""
    if not poll.ballots:
        causes = [problem.told for problem in poll.errors] + poll.unread
        error = f"no round of role {poll.role!r} succeeded: {causes[-1] if causes else 'no reply'}"
        transient = any(isinstance(problem, ModelError) and problem.unsettled == "transient" for problem in poll.errors)
        unsettled = "transient" if transient and not poll.stopped else "stopped"
    elif poll.errors and ballots.further_rounds(poll.items, poll.ballots, settings.rounds):
        unsettled = "stopped"
    return verdicts.model_copy(update={"error": error, "unsettled": unsettled, "usage": poll.usage})
