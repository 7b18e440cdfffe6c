"""A role and its messages → validated replies of its model: the one door to models."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from tasks.core.errors import ModelError
from tasks.core.files.store import Store
from tasks.core.llm import client, structured, tokens
from tasks.core.llm import tools as written
from tasks.core.llm.budget import Meter
from tasks.core.llm.embed import Embedder
from tasks.core.llm.endpoints import base_url
from tasks.core.llm.journal import Journal
from tasks.core.llm.replies import Source
from tasks.core.llm.request import Reply, Request, ToolCall
from tasks.core.llm.speech import Listener
from tasks.core.llm.structured import Invalid
from tasks.core.llm.talk import Talk, within
from tasks.core.models.run import Usage
from tasks.core.sections import SpeechSettings
from tasks.core.settings import Settings

T = TypeVar("T")
Message = dict[str, Any]


@dataclass(frozen=True)
class Asked(Generic[T]):
    """Replies to one question."""

    values: tuple[T, ...]
    """The valid ones, in order; at least one."""
    texts: tuple[str, ...]
    """Those of the last round, as the model wrote them, valid or not."""
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
        self.meter = meter
        self.journal = Journal(store, settings.journal)
        self._source = Source(settings, self.journal, meter)
        self._embedder = Embedder(settings, self.journal, meter)
        self._listener = Listener(settings, self.journal, meter)

    def identity(self, role: str) -> dict[str, Any]:
        """What of a role's settings changes its replies; never URL, key, time-out or concurrency."""
        chosen = self.settings.role(role)
        names = ("temperature", "top_p", "thinking", "max_tokens", "context_tokens", "samples", "repairs")
        return {
            "model": self._model(role),
            **{name: getattr(chosen, name) for name in (*names, "native_schema")},
            "repeat": self.settings.journal.repeat,
        }

    def size(self, role: str, text: str) -> int:
        """Tokens of a text for a role's model: by its own tokenizer where one is at hand, else our estimate; of several the most."""
        names = {self.settings.endpoints[name].model for name in self.settings.role(role).endpoints}
        return max(tokens.count(text) if (own := client.measure(text, name)) is None else own for name in names)

    async def ask(
        self, role: str, messages: list[Message], reply_model: type[T], *, samples: int | None = None
    ) -> Asked[T]:
        """Replies as objects of `reply_model`: the valid samples, or those of a repair turn when none is.

        Raises ModelError, BudgetError, InputError.
        """
        return await self.ask_read(
            role, messages, reply_model, lambda reply: structured.parse(reply.text, reply_model), samples=samples
        )

    async def ask_read(
        self,
        role: str,
        messages: list[Message],
        reply_model: type[Any],
        read: Callable[[Reply], T],
        *,
        samples: int | range | None = None,
    ) -> Asked[T]:
        """As `ask`, with a reader of one's own, which raises Invalid: it may take what is whole of a cut-off reply.

        A range of `samples` asks for those with these indices: another range of an equal prompt is another reply.
        Raises ModelError, BudgetError, InputError.
        """
        schema = structured.schema(reply_model) if self.settings.role(role).native_schema else None
        return await self._asked(self._request(role, messages, samples, schema=schema), read)

    async def ask_text(self, role: str, messages: list[Message], *, samples: int | None = None) -> Asked[str]:
        """Replies as text; one that was cut off is not valid. Raises ModelError, BudgetError, InputError."""
        return await self._asked(self._request(role, messages, samples), _whole_text)

    async def ask_tools(self, role: str, messages: list[Message], tools: list[dict[str, Any]]) -> ToolReply:
        """One turn with tools on offer, in OpenAI's form; a server without tool calls gets them as text.

        Raises ModelError, BudgetError, InputError.
        """
        request = self._request(role, messages, 1, tools=tuple(tools))
        asked = await self._asked(request, lambda reply: _turn(reply, request))
        text, calls = asked.value
        return ToolReply(text, calls, asked.usage, asked.problems)

    async def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """A vector for each text, of the model that `[recall] embedding` names.

        Raises ModelError, BudgetError, InputError.
        """
        return await self._embedder.vectors(texts)

    async def hear(self, path: Path, sha256: str, how: SpeechSettings) -> tuple[tuple[float | None, str], ...]:
        """What is said in a file of this digest: seconds and text. Raises ModelError, BudgetError, InputError."""
        return await self._listener.hear(path, sha256, how)

    async def _asked(self, request: Request, read: Callable[[Reply], T]) -> Asked[T]:
        talk = Talk(request, self.settings.role(request.role), read)
        await talk.run(self._source)
        return Asked(talk.values, tuple(reply.text for reply in talk.replies), talk.usage, talk.problems)

    def _request(self, role: str, messages: list[Message], samples: int | range | None, **more: Any) -> Request:
        chosen = self.settings.role(role)
        numbers = samples if isinstance(samples, range) else range(samples or chosen.samples)
        request = Request(
            role=role,
            model=self._model(role),
            messages=tuple(messages),
            samples=len(numbers),
            first=numbers.start,
            temperature=chosen.temperature,
            top_p=chosen.top_p,
            max_tokens=chosen.max_tokens,
            thinking=chosen.thinking,
            **more,
        )
        fitted = within(request, chosen.context_tokens, chosen.max_tokens)
        if fitted is None:
            raise ModelError(
                f"the prompt of role {role!r} has about {tokens.count_messages(messages)} tokens, and its model reads "
                f"{chosen.context_tokens}",
                "lower brief.tokens or agent.result_chars, or raise roles.*.context_tokens if the model takes more",
            )
        return fitted

    def _model(self, role: str) -> str:
        """Endpoints of a role may run different models; its replies are then of any of them."""
        names = self.settings.role(role).endpoints
        return " | ".join(sorted({self.settings.endpoints[name].model for name in names}))


def _whole_text(reply: Reply) -> str:
    if reply.finish == "length":
        raise Invalid("The reply was cut off.")
    if not reply.text.strip():
        raise Invalid("The reply is empty.")
    return reply.text


def _turn(reply: Reply, request: Request) -> tuple[str, tuple[ToolCall, ...]]:
    calls = reply.calls or written.written_calls(reply.text, request.tools)
    if reply.finish == "length" and not calls:
        raise Invalid("The reply was cut off.")
    found = []
    for id, name, arguments in calls:
        try:
            value = structured.loads(arguments)
        except ValueError as error:
            raise Invalid(f"The arguments of {name} are no JSON: {error}") from None
        if not isinstance(value, dict):
            raise Invalid(f"The arguments of {name} are no JSON object.")
        found.append(ToolCall(id, name, value))
    if not found and not reply.text.strip():
        raise Invalid("The reply is empty.")
    return reply.text, tuple(found)


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


def warm() -> None:
    """This run does work, so it will ask a model: begin to load what that needs. Nothing in a replay, and outside a run."""
    door = _current.get(None)
    if door and door.settings.journal.mode != "replay":
        client.warm(base_url(door.settings.endpoint(door.settings.role("default").endpoints[0])))


def size(role: str, text: str) -> int:
    """`Door.size` of this run's door; outside a run our estimate."""
    door = _current.get(None)
    return door.size(role, text) if door else tokens.count(text)


async def ask(role: str, messages: list[Message], reply_model: type[T], *, samples: int | None = None) -> Asked[T]:
    """`Door.ask` of this run's door."""
    return await current().ask(role, messages, reply_model, samples=samples)


async def ask_text(role: str, messages: list[Message], *, samples: int | None = None) -> Asked[str]:
    """`Door.ask_text` of this run's door."""
    return await current().ask_text(role, messages, samples=samples)


async def ask_tools(role: str, messages: list[Message], tools: list[dict[str, Any]]) -> ToolReply:
    """`Door.ask_tools` of this run's door."""
    return await current().ask_tools(role, messages, tools)


async def embed(texts: Sequence[str]) -> list[array[float]]:
    """`Door.embed` of this run's door."""
    return await current().embed(texts)


async def hear(path: Path, sha256: str, how: SpeechSettings) -> tuple[tuple[float | None, str], ...]:
    """`Door.hear` of this run's door."""
    return await current().hear(path, sha256, how)
