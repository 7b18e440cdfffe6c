"""rows, errors and lines → what the model sees of a tool's result: short, and saying what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.errors import TablewrightError
from tasks.core.llm.prompts import fence
from tasks.core.models.value import Cell
from tasks.solve.showing.layout import one_line

_CELL_CHARS = 200


@dataclass(frozen=True)
class Observation:
    """A tool's result as the model sees it."""

    text: str
    """May quote names and cells, so the model gets it fenced."""
    advice: str = ""
    """Of ours, with nothing from the data in it; stands outside the fence."""
    ok: bool = True
    truncated: bool = False
    """Rows, lines or signs were left out; the text says so."""
    final: bool = False
    """A submission was accepted: the attempt is over."""

    @property
    def fenced(self) -> str:
        """As the model gets it."""
        return "\n".join(part for part in (self.text and fence(self.text), self.advice) if part)

    @property
    def plain(self) -> str:
        """As a reader of the steps gets it."""
        return "\n".join(part for part in (self.text, self.advice) if part)


def of_error(error: TablewrightError) -> Observation:
    """The message and the next step."""
    return Observation(f"Error: {error.message}" + (f"\nHint: {error.hint}" if error.hint else ""), ok=False)


def of_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]], row_count: int, chars: int) -> Observation:
    """Rows as a text table of at most about `chars` signs, with the count of all rows."""
    lines = [" | ".join(one_line(name, _CELL_CHARS) for name in columns)]
    used = len(lines[0])
    for row in rows:
        line = " | ".join(map(_cell, row))
        used += len(line) + 1
        if used > chars and len(lines) > 1:
            break
        lines.append(line[:chars])
    shown = len(lines) - 1
    cut = shown < row_count or used > chars
    total = "1 row" if row_count == 1 else f"{row_count} rows"
    told = f"({total}, the first {shown} shown)" if shown < row_count else f"({total})"
    return Observation("\n".join([*lines, told]), truncated=cut)


def of_lines(lines: Sequence[str], chars: int, rest: str) -> Observation:
    """Whole lines up to about `chars` signs; `rest` says how to get the others, with `{left}` for their number."""
    kept: list[str] = []
    used = 0
    for line in lines:
        used += len(line) + 1
        if used > chars and kept:
            break
        kept.append(line if len(line) <= chars else line[: chars - 1] + "…")
    left = len(lines) - len(kept)
    told = [f"({rest.format(left=left)})"] if left else []
    return Observation("\n".join([*kept, *told]), truncated=bool(left) or used > chars)


def _cell(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return one_line(cell, _CELL_CHARS) if isinstance(cell, str) else str(cell)
