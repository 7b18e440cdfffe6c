"""A role and its messages → validated replies of its model: the one door to models."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from tasks.core.files.store import Store
from tasks.core.llm import client
from tasks.core.llm.budget import Meter
from tasks.core.llm.request import Request, Response, ToolCall
from tasks.core.models.run import Usage
from tasks.core.settings import Settings

T = TypeVar("T")
Message = dict[str, Any]


@dataclass(frozen=True)
class Asked(Generic[T]):
    """Replies to one question."""

    values: tuple[T, ...]
    """The valid ones, in order."""
    texts: tuple[str, ...]
    """All of them, as the model wrote them."""
    usage: Usage
    problems: tuple[str, ...] = ()
    """What went wrong on the way and did not stop it."""

    @property
    def value(self) -> T:
        """The first valid one."""
        return self.values[0]


@dataclass(frozen=True)
class ToolReply:
    """One turn of a model that may call tools."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    problems: tuple[str, ...] = ()


class Door:
    """Asks models for one run, as its settings say."""

    def __init__(self, settings: Settings, store: Store, meter: Meter) -> None:
        self.settings = settings
        self.store = store
        self.meter = meter

    def identity(self, role: str) -> dict[str, Any]:
        """What of a role's settings changes its replies; never URL, key, time-out or concurrency."""
        chosen = self.settings.role(role)
        names = ("temperature", "top_p", "thinking", "max_tokens", "context_tokens", "samples", "repairs")
        return {
            "model": self._model(role),
            **{name: getattr(chosen, name) for name in (*names, "native_schema")},
            "repeat": self.settings.journal.repeat,
        }

    async def ask(
        self, role: str, messages: list[Message], reply_model: type[T], *, samples: int | None = None
    ) -> Asked[T]:
        """Replies as objects of `reply_model`."""
        adapter: TypeAdapter[T] = TypeAdapter(reply_model)
        response = await self._send(role, messages, samples)
        texts = tuple(reply.text for reply in response.replies)
        return Asked(tuple(adapter.validate_python(json.loads(text)) for text in texts), texts, Usage(calls=1))

    async def ask_text(self, role: str, messages: list[Message], *, samples: int | None = None) -> Asked[str]:
        """Replies as text."""
        response = await self._send(role, messages, samples)
        texts = tuple(reply.text for reply in response.replies)
        return Asked(texts, texts, Usage(calls=1))

    async def ask_tools(self, role: str, messages: list[Message], tools: list[dict[str, Any]]) -> ToolReply:
        """One turn with tools on offer."""
        response = await self._send(role, messages, 1, tuple(tools))
        reply = response.replies[0]
        calls = tuple(ToolCall(id, name, json.loads(arguments)) for id, name, arguments in reply.calls)
        return ToolReply(reply.text, calls, Usage(calls=1))

    async def _send(
        self, role: str, messages: list[Message], samples: int | None, tools: tuple[dict[str, Any], ...] = ()
    ) -> Response:
        chosen = self.settings.role(role)
        request = Request(
            role=role,
            model=self._model(role),
            messages=tuple(messages),
            samples=samples or chosen.samples,
            temperature=chosen.temperature,
            top_p=chosen.top_p,
            max_tokens=chosen.max_tokens,
            thinking=chosen.thinking,
            tools=tools,
        )
        return await client.send(self.settings.endpoints[chosen.endpoints[0]], request, chosen.timeout_seconds)

    def _model(self, role: str) -> str:
        names = self.settings.role(role).endpoints
        return " | ".join(sorted({self.settings.endpoints[name].model for name in names}))


_current: ContextVar[Door] = ContextVar("door")


def current() -> Door:
    """The door of this run. Raises LookupError outside `use`."""
    return _current.get()


@contextlib.contextmanager
def use(door: Door) -> Iterator[Door]:
    """Make this the door of everything called inside."""
    token = _current.set(door)
    try:
        yield door
    finally:
        _current.reset(token)


async def ask(role: str, messages: list[Message], reply_model: type[T], *, samples: int | None = None) -> Asked[T]:
    """`Door.ask` of this run's door."""
    return await current().ask(role, messages, reply_model, samples=samples)


async def ask_text(role: str, messages: list[Message], *, samples: int | None = None) -> Asked[str]:
    """`Door.ask_text` of this run's door."""
    return await current().ask_text(role, messages, samples=samples)


async def ask_tools(role: str, messages: list[Message], tools: list[dict[str, Any]]) -> ToolReply:
    """`Door.ask_tools` of this run's door."""
    return await current().ask_tools(role, messages, tools)
