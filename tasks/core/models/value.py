"""The root of every noun: frozen, strict about unknown fields, JSON both ways."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

_put = object.__setattr__

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

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> Self:
        """A model of values that others have validated: for many at once, where each is read from a model anyway.

        `fields` holds every field in its order; it becomes the model's own. Nothing is checked.
        """
        made = cls.__new__(cls)
        _put(made, "__dict__", fields)
        _put(made, "__pydantic_fields_set__", _names(cls))
        _put(made, "__pydantic_extra__", None)
        _put(made, "__pydantic_private__", None)
        return made


@functools.cache
def _names(model: type[Value]) -> set[str]:
    """One set for all such models of a type: pydantic copies it before it writes to it."""
    return set(model.model_fields)
