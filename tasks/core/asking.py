"""The sections of configs/*.toml that say how models are asked: retry, endpoints, roles."""

from __future__ import annotations

from pydantic import Field

from tasks.core.models.value import Value


class RetrySettings(Value):
    """What happens when an endpoint is away or busy."""

    first_seconds: float = Field(ge=0)
    longest_seconds: float = Field(gt=0)
    asked_seconds: float = Field(ge=0)
    cool_seconds: float = Field(ge=0)
    absent_seconds: float = Field(ge=0)


class EndpointSettings(Value):
    """One place that answers prompts."""

    url: str = ""
    model: str = ""
    provider: str = ""
    api_key_env: str = ""
    """Name of the environment variable that holds the key."""
    concurrency: int = Field(default=4, ge=1)
    serve: bool = False
    prefix_seconds: float = Field(default=0.0, ge=0)
    """Requests that begin as one under way wait so long for it, so that the endpoint has the beginning in its cache."""


class RoleSettings(Value):
    """How one role asks its model."""

    endpoints: tuple[str, ...]
    first: bool = False
    """Whether its requests go before those of other roles that stand in line."""
    temperature: float = Field(ge=0, le=2)
    top_p: float = Field(gt=0, le=1)
    thinking: bool
    max_tokens: int = Field(ge=1)
    context_tokens: int = Field(ge=256)
    timeout_seconds: float = Field(gt=0)
    attempts: int = Field(ge=1)
    repairs: int = Field(ge=0)
    samples: int = Field(ge=1)
    native_schema: bool
