"""What is asked of a model, and what came back: the words that client, journal and door share."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Request:
    """A prompt with everything that changes its reply, and nothing that does not."""

    role: str
    model: str
    messages: tuple[dict[str, Any], ...]
    samples: int
    temperature: float
    top_p: float
    max_tokens: int
    thinking: bool
    schema: dict[str, Any] | None = None
    """JSON schema of the reply, when the endpoint shall enforce it."""
    tools: tuple[dict[str, Any], ...] = ()
    first: int = 0
    """Index of the first sample: rounds of a vote send equal requests and are told apart by it."""

    @property
    def indices(self) -> range:
        """Indices of its samples."""
        return range(self.first, self.first + self.samples)

    def content(self) -> dict[str, Any]:
        """What a journal key is made of."""
        return {
            "model": self.model,
            "messages": list(self.messages),
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "thinking": self.thinking,
            "schema": self.schema,
            "tools": list(self.tools),
        }

    def of(self, samples: int) -> Request:
        """The same request for another number of replies."""
        return replace(self, samples=samples)


@dataclass(frozen=True)
class ToolCall:
    """One tool that the model wants run."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One reply of a model. Reasoning is not part of it."""

    text: str
    finish: str = "stop"
    """`stop`, `length` (cut off), `tool_calls`, `content_filter`."""
    calls: tuple[tuple[str, str, str], ...] = ()
    """Native tool calls: id, name, arguments as the model wrote them."""
    refusal: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    """Of `tokens_in`: those that the endpoint had read before, as it counts them."""
    model: str = ""
    """As the endpoint names it."""

    @property
    def empty(self) -> bool:
        """No text, no call, no refusal."""
        return not (self.text.strip() or self.calls or self.refused)

    @property
    def refused(self) -> bool:
        """The model or its filter would not answer."""
        return bool(self.refusal) or self.finish == "content_filter"

    @property
    def useful(self) -> bool:
        """Neither empty nor refused; whether it is valid is for its reader to say."""
        return not (self.empty or self.refused)


@dataclass(frozen=True)
class Response:
    """All replies of one request as sent, and its price."""

    replies: tuple[Reply, ...]
    money: float
    """US dollars; 0 when the price is unknown."""
    seconds: float
    notes: tuple[str, ...] = ()
    """Fields that the endpoint did not take and that change what it says."""


@dataclass(frozen=True)
class Texts:
    """Texts whose vectors are wanted, as one request sends them."""

    model: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Vectors:
    """One vector for each text, in order, and the price of all."""

    rows: tuple[array[float], ...]
    """32-bit floats, as many in each."""
    tokens_in: int
    money: float
    """US dollars; 0 when the price is unknown."""
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sound:
    """A file whose speech is wanted."""

    model: str
    path: str


@dataclass(frozen=True)
class Heard:
    """What is said in it: seconds from the start, None where the endpoint does not tell, and text; and the price."""

    said: tuple[tuple[float | None, str], ...]
    money: float
    """US dollars; 0 when the price is unknown."""
    seconds: float
    notes: tuple[str, ...] = ()
