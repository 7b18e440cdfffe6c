"""tables to show + room → their blocks, in the most detail that fits; what does not fit is left to be named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.core.llm.tokens import count
from tasks.core.models.catalogue import TableProfile
from tasks.solve.showing.layout import Detail, table_lines

_TABLE_SHARE = 0.5
"""Most that one table may take of the tables' room, as long as others wait."""
_TOGETHER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Levels of the first and of the other tables, from the richest to the barest."""


@dataclass(frozen=True)
class Shown:
    """A table that shall be shown."""

    table: TableProfile
    columns: frozenset[str] | None = None
    """Those that are described; None = all."""
    least: int = 0
    """The richest level that it may have."""
    worth: Mapping[str, float] | None = None
    """Of its columns, for when not all of them fit."""


@dataclass(frozen=True)
class Fitting:
    """How much of a table is shown, and what room there is."""

    levels: tuple[Detail, Detail, Detail]
    """From rich to names alone."""
    room: int
    """Tokens of all blocks together."""

    def text(self, shown: Shown, level: int) -> str:
        """The table's block at a level."""
        return "\n".join(table_lines(shown.table, self.levels[max(level, shown.least)], shown.columns))


def together(first: Sequence[Shown], others: Sequence[Shown], fitting: Fitting) -> dict[str, str] | None:
    """The blocks of all tables, the first in no less detail than the others; None when they do not fit."""
    for one, other in _TOGETHER:
        blocks: dict[str, str] = {}
        left = fitting.room
        for shown in (*first, *others):
            block = fitting.text(shown, one if len(blocks) < len(first) else other)
            blocks[shown.table.name] = block
            left -= count(block) + 2
            if left < 0:
                break
        else:
            return blocks
    return None


def best_first(tables: Sequence[Shown], fitting: Fitting) -> dict[str, str]:
    """As many tables as the room takes, each in the most detail that half of what is left allows."""
    blocks: dict[str, str] = {}
    room = fitting.room
    for number, shown in enumerate(tables):
        is_last = number == len(tables) - 1
        block = _richest(shown, fitting, room if is_last else int(room * _TABLE_SHARE))
        if block:
            blocks[shown.table.name] = block
            room -= count(block) + 2
    return blocks


def _richest(shown: Shown, fitting: Fitting, room: int) -> str:
    """A table within the room; one too wide for it shows the columns that matter most, or is left out."""
    for level in range(len(fitting.levels)):
        block = fitting.text(shown, level)
        if count(block) <= room:
            return block
    scores = shown.worth or {}
    listed = [column for column in shown.table.columns if shown.columns is None or column.name in shown.columns]
    by_worth = sorted(listed, key=lambda column: (not column.is_key, -scores.get(column.name, 0.0)))
    keep = len(by_worth)
    while keep := keep // 2:
        block = "\n".join(table_lines(shown.table, fitting.levels[-1], {column.name for column in by_worth[:keep]}))
        if count(block) <= room:
            return block
    return ""
