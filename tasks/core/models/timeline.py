"""What a run did and when, and what each part of it came after."""

from __future__ import annotations

from pydantic import Field

from tasks.core.models.value import Value


class Span(Value):
    """A stage, or one request to a model."""

    stage: str
    role: str = ""
    """Whose model was asked; empty for a stage itself."""
    model: str = ""
    endpoints: tuple[str, ...] = ()
    """Names of those that could take the request."""
    outcome: str = ""
    """Of a stage `done`, `cached` or `failed`, of a request `done` or `failed`; empty where it had not ended."""
    slot: float = 0.0
    """Seconds in line for a place at the endpoint."""
    held: float = 0.0
    """Seconds kept back until another request with the same beginning was answered."""
    paused: float = 0.0
    """Seconds of waits that an endpoint asked for, of those between tries, and of tries that failed."""
    reply: float = 0.0
    """Seconds from sending the request that was answered to its reply."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """Of `tokens_in`, as the endpoint counts them."""
    tokens_out: int = 0


class Moment(Value):
    """A span begins or ends."""

    at: float
    """Seconds since the run began."""
    after: tuple[int, ...]
    """Numbers of earlier moments that this one had to wait for."""
    span: int | None
    """Number of the span; None = the run itself ends."""


class Timeline(Value):
    """One try of a run. A moment's number is its place in the order in which they came."""

    moments: tuple[Moment, ...]
    spans: tuple[Span, ...]
    slots: dict[str, int] = Field(default_factory=dict)
    """Requests that each endpoint takes at once, by its name."""
