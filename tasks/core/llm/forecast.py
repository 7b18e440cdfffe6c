"""Requests that would be sent → a list of them, and none is sent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tasks.core.errors import BudgetError
from tasks.core.llm.budget import Meter, current_stage
from tasks.core.llm.request import Request
from tasks.core.sections import BudgetSettings


@dataclass(frozen=True)
class Prompt:
    """A request that the journal does not answer."""

    stage: str
    role: str
    """Empty: texts for vectors, or a sound, for no role's model."""
    calls: int
    """Replies that it asks for."""
    tokens: int
    """Of the prompt, as we count them; of all prompts together where they are estimated."""
    reply_tokens: int
    """At most, of each reply; of all together where they are estimated."""
    messages: tuple[dict[str, Any], ...] = ()
    estimated: bool = False
    """Whether calls and tokens are an estimate, because replies decide them."""

    @property
    def sent(self) -> int:
        """Tokens of all its calls."""
        return self.tokens if self.estimated else self.tokens * self.calls

    @property
    def back(self) -> int:
        """Tokens of all its replies: at most, or estimated."""
        return self.reply_tokens if self.estimated else self.reply_tokens * self.calls


@dataclass(frozen=True)
class Foreseen:
    """A section of many records told alike, which learned patterns would read: what that is estimated to take, and slices would."""

    document: str
    section: str
    records: int
    calls: int
    tokens: int
    """Prompts and replies."""
    slice_calls: int
    slice_tokens: int


class Forecast(Meter):
    """The budget of a dry run: it notes each request and lets none pass, as if nothing were left."""

    def __init__(self, limits: BudgetSettings) -> None:
        super().__init__(limits)
        self.prompts: list[Prompt] = []
        self.foreseen: list[Foreseen] = []

    @contextlib.contextmanager
    def reserve(self, calls: int, tokens: int, request: Request | None = None) -> Iterator[None]:
        """Raises BudgetError, always."""
        if request:
            told = Prompt(current_stage(), request.role, calls, tokens, request.max_tokens, request.messages)
        else:
            told = Prompt(current_stage(), "", calls, tokens, 0)
        self.prompts.append(told)
        raise BudgetError("nothing is sent in a dry run")
        yield  # a generator, as the context manager asks
