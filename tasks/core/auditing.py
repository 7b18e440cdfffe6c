"""The sections of configs/*.toml that bound validators, each as a frozen model."""

from __future__ import annotations

from pydantic import Field

from tasks.core.models.value import Value


class ProcessSettings(Value):
    """The audit of how an attempt came to its candidate."""

    enabled: bool
    model: bool
    checkpoint_model_interval: int = Field(ge=1)
    review_budget: int = Field(ge=0)
    request_tokens: int = Field(ge=0)
    recent_steps: int = Field(ge=0)
    evidence_items: int = Field(ge=1)
    string_tokens: int = Field(ge=50)
    list_items: int = Field(ge=1)


class VerifySettings(Value):
    """The audit of an answer's final form."""

    enabled: bool
    model: bool
    review_budget: int = Field(ge=0)
