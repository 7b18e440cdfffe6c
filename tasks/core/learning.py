"""The section of configs/*.toml that bounds learned extraction patterns, as a frozen model."""

from __future__ import annotations

from pydantic import Field

from tasks.core.models.value import Value


class PatternSettings(Value):
    """When patterns are learned for a section, and when they are believed."""

    enabled: bool
    records: int = Field(ge=1)
    share: float = Field(gt=0, le=1)
    shown: int = Field(ge=1)
    rounds: int = Field(ge=1)
    survey: int = Field(ge=1)
    sample: int = Field(ge=1)
    bar: float = Field(ge=0, le=1)
    seconds: float = Field(gt=0)
