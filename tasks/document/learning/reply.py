"""What the model replies when it writes patterns, and what of it is kept."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, Field

from tasks.core.models.patterns import Pattern

_MOST = 400
"""Patterns of one reply."""


class ColumnReply(BaseModel):
    """Patterns of one column."""

    c: str = Field(description="name of the column")
    find: list[str] = Field(description="expressions that find its value, each with (?P<value>…) around it")
    absent: list[str] = Field(default_factory=list, description="expressions for words that say it has no value")


class PatternsReply(BaseModel):
    """All of them."""

    columns: list[ColumnReply]
    other: list[str] = Field(default_factory=list, description="expressions for words that give no value of any column")


def patterns_of(reply: PatternsReply, wanted: Iterable[str]) -> tuple[tuple[Pattern, ...], tuple[str, ...]]:
    """Patterns in the order of the reply, each once, and what was left out."""
    names = {name.casefold(): name for name in wanted}
    found: dict[Pattern, None] = {}
    problems = []
    for column in reply.columns:
        name = names.get(column.c.strip().casefold())
        if name is None:
            problems.append(f"patterns were written for a column that was not asked for: {column.c[:80]!r}")
            continue
        found |= dict.fromkeys(Pattern(kind="value", column=name, text=text) for text in column.find)
        found |= dict.fromkeys(Pattern(kind="absent", column=name, text=text) for text in column.absent)
    found |= dict.fromkeys(Pattern(kind="other", text=text) for text in reply.other)
    if len(found) > _MOST:
        problems.append(f"{len(found) - _MOST} patterns beyond {_MOST} were left out")
    return tuple(found)[:_MOST], tuple(problems)
