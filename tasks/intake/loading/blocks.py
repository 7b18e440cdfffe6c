"""Rows of one sheet → its tables: side by side with an empty column between, or one below the other after a blank row.

Only where the layout decides; where it does not, they stay one table and `doubts` says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from tasks.intake.loading import grid
from tasks.intake.loading.cells import Cell

Row = tuple[int, list[Cell | None]]
_AHEAD = 20
"""Rows below a blank one that tell whether another table begins there."""
_TYPED = ("integer", "decimal", "code", "date", "moment", "time", "boolean")


class Span(NamedTuple):
    """Columns from `first` up to, not with, `end`."""

    first: int
    end: int

    def of(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows that have a value in these columns, cut to them."""
        for number, cells in rows:
            part = cells[self.first : self.end]
            if any(part):
                yield number, part


EVERY = Span(0, 1 << 14)


class Division(NamedTuple):
    """Columns of each table of a sheet."""

    spans: tuple[Span, ...] = (EVERY,)
    doubt: str = ""
    """Why there may be more."""
    again: bool = False
    """More rows than the sample were read to find out."""


def divide(sample: list[Row], rest: Iterable[Row]) -> Division:
    """Seek tables side by side. `rest` (all rows below the sample) is read only where it matters."""
    parts = _parts(sample)
    if len(parts) < 2:
        return Division()
    places: list[list[int]] = [[number for number, _ in part.of(sample)] for part in parts]
    gaps = [place for left, right in pairwise(parts) for place in range(left.end, right.first)]
    for number, cells in rest:
        if any(place < len(cells) and cells[place] for place in gaps):
            return Division(again=True)
        for part, found in zip(parts, places, strict=True):
            if any(cells[part.first : part.end]):
                found.append(number)
    parts = [*parts[:-1], Span(parts[-1].first, EVERY.end)]
    if _are_apart(parts, places, sample):
        return Division(tuple(parts), again=True)
    doubt = ""
    if all(_header(list(islice(part.of(sample), _AHEAD))) for part in parts):
        doubt = f"column {letters(gaps[0])} is empty: what stands right of it may be another table; read as one table"
    return Division(doubt=doubt, again=True)


def _parts(sample: list[Row]) -> list[Span]:
    """Runs of columns that have a value somewhere, with empty ones between."""
    used = sorted({place for _, cells in sample for place, cell in enumerate(cells) if cell})
    found: list[Span] = []
    for place in used:
        if found and found[-1].end == place:
            found[-1] = Span(found[-1].first, place + 1)
        else:
            found.append(Span(place, place + 1))
    return found


def _are_apart(parts: list[Span], places: list[list[int]], sample: list[Row]) -> bool:
    """Each has two columns, names and no gap, and they differ in their rows or repeat their names."""
    heads = [_header(list(islice(part.of(sample), _AHEAD))) for part in parts]
    if not all(heads) or any(part.end - part.first < 2 for part in parts):
        return False
    names = [[cell.text for cell in head if cell] for head in heads]
    if all(name == names[0] for name in names):
        return True
    every = sorted(set().union(*places))
    whole = all(sum(found[0] <= at <= found[-1] for at in every) == len(found) for found in places)
    return whole and len({(found[0], found[-1]) for found in places}) > 1


def _header(rows: list[Row]) -> list[Cell | None]:
    """The cells that name the columns; empty where the first rows hold none, or nothing below them."""
    layout = grid.find(rows)
    if not layout.header or len(rows) < layout.above + 2:
        return []
    cells = [cell for cell in rows[layout.above][1] if cell]
    texts = [cell.text for cell in cells if cell.kind == "text"]
    return rows[layout.above][1] if 2 * len(texts) >= len(cells) and len(set(texts)) == len(texts) > 0 else []


class Stack:
    """Tables one below the other; each must be read to its end before the next."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._ahead: deque[Row] = deque()
        self.doubts: list[int] = []
        """Rows of the present table, below a blank one, that may be the names of another."""

    def tables(self) -> Iterator[Iterator[Row]]:
        """The rows of each table."""
        while self._look(1):
            self.doubts = []
            yield self._table()

    def _look(self, count: int) -> bool:
        self._ahead.extend(islice(self._rows, max(0, count - len(self._ahead))))
        return bool(self._ahead)

    def _table(self) -> Iterator[Row]:
        seen = _Seen()
        last = 0
        while self._look(1):
            number, cells = self._ahead[0]
            if last and number > last + 1 and seen.is_table:
                self._look(_AHEAD)
                verdict = seen.judge(_block(self._ahead))
                if verdict == "own":
                    return
                if verdict == "doubt":
                    self.doubts.append(number)
            last = number
            seen.take(cells)
            yield self._ahead.popleft()


def _block(rows: Iterable[Row]) -> list[Row]:
    """The first rows up to the next blank one; a title may have blank rows below it."""
    found: list[Row] = []
    for number, cells in rows:
        if found and number > found[-1][0] + 1 and _filled(found[-1][1]) > 1:
            break
        found.append((number, cells))
    return found


class _Seen:
    """What is known of the present table."""

    def __init__(self) -> None:
        self._first: list[list[str]] = []
        self._recent: deque[list[Cell | None]] = deque(maxlen=5)
        self._wide = self._rows = self._columns = 0

    @property
    def is_table(self) -> bool:
        """Two rows of more than one cell: names and values. Less is a title."""
        return self._wide > 1

    def take(self, cells: list[Cell | None]) -> None:
        """One more row."""
        self._rows += 1
        if self._rows > 1:
            self._recent.append(cells)
        if self._wide < 2:
            self._wide += _filled(cells) > 1
        if self._rows <= 50:
            self._columns = max(self._columns, len(cells))
            self._first.append(_texts(cells))

    def judge(self, block: list[Row]) -> str:
        """`own` where the block is another table, `doubt` where it may be one, else empty."""
        head = _header(block)
        if _filled(head) < 2:
            return ""
        below = [cells for _, cells in block[[cells for _, cells in block].index(head) + 1 :]]
        texts = {place for place, cell in enumerate(head) if cell and cell.kind == "text"}
        typed = {place for place in texts if _is_typed(below, place)}
        broken = {place for place in texts if _is_typed(self._recent, place)}
        repeated = _texts(head) in self._first
        if repeated or (typed and (broken or len(head) > self._columns)):
            return "own"
        plain = len(texts) == _filled(head) and not any(_is_typed(self._recent, at) for at in range(self._columns))
        return "doubt" if broken or typed or len(head) > self._columns or plain else ""


def _filled(cells: list[Cell | None]) -> int:
    return sum(cell is not None for cell in cells)


def _texts(cells: list[Cell | None]) -> list[str]:
    return [cell.text or "" for cell in cells if cell]


def _is_typed(rows: Iterable[list[Cell | None]], place: int) -> bool:
    """Whether all values of a column are numbers or dates, and there is one."""
    kinds = [cell.kind for cells in rows if place < len(cells) and (cell := cells[place])]
    return bool(kinds) and all(kind in _TYPED for kind in kinds)


def letters(place: int) -> str:
    """0 → `A`, 26 → `AA`."""
    found = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        found = chr(65 + rest) + found
    return found
