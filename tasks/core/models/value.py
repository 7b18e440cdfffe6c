"""The root of every noun: frozen, strict about unknown fields, JSON both ways."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

Cell = str | int | float | bool | None
"""A value of a table."""


@dataclass(frozen=True)
class Location:
    """Marks a field that says where something lies, not what it is; cache keys leave it out.

    Use as `root: Annotated[str, Location()]`: a folder may move without losing its cached results.
    """


class Value(BaseModel):
    """A noun that may cross a stage boundary."""

    model_config = ConfigDict(frozen=True, extra="forbid")
