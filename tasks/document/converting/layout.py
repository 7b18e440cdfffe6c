"""Sheet → its rows and tables in reading order: columns first, then from top to bottom."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from tasks.document.converting.seams import Words, join
from tasks.document.converting.segment import Box, Grid, Segment, Sheet, union

_STEPS = 60
_CROSSED = 0.04
"""Share of a band's runs that may cross a gutter: headings over both columns."""
_FILLED = 0.55
"""Prose fills this share of its column's width; cells of a table do not."""
_NOTHING = Words(())


class Row(NamedTuple):
    """One line of running text."""

    text: str
    x0: float
    x1: float
    base: float
    size: float
    box: Box
    page: int
    flow: int
    """Column of text, counted through the page; rows of one flow have the margins `left` and `right`."""
    left: float = 0.0
    right: float = 0.0


class Table(NamedTuple):
    """A table between the rows."""

    rows: list[list[str]]
    boxes: list[Box]
    page: int


Piece = Row | Table


def order(sheet: Sheet) -> list[Piece]:
    """The page's rows and tables as they are read; text in another direction comes last."""
    upright = [segment for segment in sheet.segments if not segment.odd]
    pieces: list[Piece] = []
    flow = 0
    for band in _bands(upright, sheet.grids, sheet.width):
        pieces += _column(band, flow)
        flow += 1
    for segment in sheet.segments:
        if segment.odd:
            pieces.append(_row([segment], flow))
            flow += 1
    return pieces


def _bands(segments: list[Segment], grids: list[Grid], width: float) -> list[list[Segment | Grid]]:
    """Parts of the page to be read one after another, each a single column."""
    split = _gutter(segments, width)
    everything: list[Segment | Grid] = [*segments, *grids]
    everything.sort(key=lambda item: (item.base, item.x0))
    if split is None:
        return [everything]
    bands: list[list[Segment | Grid]] = []
    left: list[Segment | Grid] = []
    right: list[Segment | Grid] = []
    for item in everything:
        if item.x0 < split < item.x1:
            bands += [part for part in (left, right, [item]) if part]
            left, right = [], []
        elif item.x1 <= split:
            left.append(item)
        else:
            right.append(item)
    bands += [part for part in (left, right) if part]
    return [part for band in _together(bands, split) for part in _again(band)]


def _together(bands: list[list[Segment | Grid]], split: float) -> list[list[Segment | Grid]]:
    """Runs over both columns that follow each other are one band."""
    merged: list[list[Segment | Grid]] = []
    for band in bands:
        wide = all(item.x0 < split < item.x1 for item in band)
        if wide and merged and all(item.x0 < split < item.x1 for item in merged[-1]):
            merged[-1] += band
        else:
            merged.append(band)
    return merged


def _again(band: list[Segment | Grid]) -> list[list[Segment | Grid]]:
    """A half that is two columns itself: pages of three and four columns."""
    segments = [item for item in band if isinstance(item, Segment)]
    if len(segments) < 8 or len(segments) < len(band):
        return [band]
    x0, x1 = min(s.x0 for s in segments), max(s.x1 for s in segments)
    split = _gutter([s._replace(x0=s.x0 - x0, x1=s.x1 - x0) for s in segments], x1 - x0)
    if split is None:
        return [band]
    sides = [s for s in segments if s.x1 <= split + x0], [s for s in segments if s.x1 > split + x0]
    return [list(side) for side in sides if side]


def _gutter(segments: list[Segment], width: float) -> float | None:
    """The x that parts two columns of prose; None on a page of one column."""
    if len(segments) < 8:
        return None
    best: tuple[int, float] | None = None
    run: list[float] = []
    low, high = 0.25 * width, 0.75 * width
    fewest = len(segments) + 1
    for step in range(_STEPS + 1):
        x = low + (high - low) * step / _STEPS
        crossed = sum(s.x0 < x < s.x1 for s in segments)
        if crossed < fewest:
            fewest, run = crossed, [x]
        elif crossed == fewest:
            run.append(x)
    best = (fewest, run[len(run) // 2])
    if best[0] > max(2, _CROSSED * len(segments)):
        return None
    return best[1] if _is_prose(segments, best[1]) else None


def _is_prose(segments: list[Segment], x: float) -> bool:
    """Both sides are filled with lines of text, side by side."""
    sides = [s for s in segments if s.x1 <= x], [s for s in segments if s.x0 >= x]
    if min(map(len, sides)) < 3 or min(map(len, sides)) < 0.15 * len(segments):
        return False
    for side in sides:
        lines = _lines(side)
        extent = max(s.x1 for s in side) - min(s.x0 for s in side)
        lengths = [max(s.x1 for s in line) - min(s.x0 for s in line) for line in lines]
        letters = statistics.median(sum(len(s.text) for s in line) for line in lines)
        if statistics.median(lengths) < _FILLED * extent or letters < 10:
            return False
    tops = [(min(s.base - s.size for s in side), max(s.base for s in side)) for side in sides]
    shared = min(tops[0][1], tops[1][1]) - max(tops[0][0], tops[1][0])
    return shared > 0.4 * min(tops[0][1] - tops[0][0], tops[1][1] - tops[1][0])


def _lines(segments: list[Segment]) -> list[list[Segment]]:
    """Runs on one baseline, from left to right."""
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (s.base, s.x0)):
        if lines and abs(segment.base - lines[-1][0].base) <= 0.35 * max(segment.size, 1):
            lines[-1].append(segment)
        else:
            lines.append([segment])
    return [sorted(line, key=lambda s: s.x0) for line in lines]


def _column(items: list[Segment | Grid], flow: int) -> list[Piece]:
    """Rows and tables of one column; runs that stand in aligned cells become a table."""
    grids = sorted((item for item in items if isinstance(item, Grid)), key=lambda grid: grid.base)
    lines = [_closed(line) for line in _lines([item for item in items if isinstance(item, Segment)])]
    rows: list[Piece] = []
    at = 0
    while at < len(lines):
        while grids and grids[0].base < lines[at][0].base:
            rows.append(_ruled(grids.pop(0)))
        end = _aligned(lines, at)
        if end - at >= 3:
            rows.append(_borderless(lines[at:end]))
            at = end
        else:
            rows.append(_row(lines[at], flow))
            at += 1
    rows += [_ruled(grid) for grid in grids]
    return _margins(rows)


def _closed(line: list[Segment]) -> list[Segment]:
    """Runs that stand close together are one."""
    closed = [line[0]]
    for segment in line[1:]:
        last = closed[-1]
        gap = segment.x0 - last.x1
        if gap < 1.2 * max(last.size, segment.size):
            parted = gap > 0.15 * segment.size and not last.text.endswith(" ")
            text = join(last.text, segment.text, _NOTHING) if parted else last.text + segment.text
            box, size = (
                union([last.box, segment.box]),
                last.size if len(last.text) >= len(segment.text) else segment.size,
            )
            closed[-1] = last._replace(text=text, x1=max(last.x1, segment.x1), size=size, box=box)
        else:
            closed.append(segment)
    return closed


def _aligned(lines: list[list[Segment]], start: int) -> int:
    """End of the lines from `start` on that have the same number of cells, 2 or more, one under another."""
    count, end = len(lines[start]), start + 1
    if count < 2:
        return end
    while end < len(lines) and len(lines[end]) == count and _fits(lines[end - 1], lines[end]):
        end += 1
    return end


def _fits(above: list[Segment], below: list[Segment]) -> bool:
    if below[0].base - above[0].base > 4 * max(below[0].size, above[0].size):
        return False
    return all(
        min(abs(a.x0 - b.x0), abs(a.x1 - b.x1), abs(a.x0 + a.x1 - b.x0 - b.x1) / 2) <= max(a.size, b.size) * 0.6
        for a, b in zip(above, below, strict=True)
    )


def _borderless(lines: list[list[Segment]]) -> Table:
    rows = [[segment.text for segment in line] for line in lines]
    return Table(rows, [union([segment.box for segment in line]) for line in lines], lines[0][0].page)


def _ruled(grid: Grid) -> Table:
    return Table(grid.rows, grid.boxes, grid.page)


def _row(line: list[Segment], flow: int) -> Row:
    text = line[0].text
    for segment in line[1:]:
        text = join(text, segment.text, _NOTHING)
    longest = max(line, key=lambda segment: len(segment.text))
    box = union([segment.box for segment in line])
    x1 = max(segment.x1 for segment in line)
    return Row(text.strip(), line[0].x0, x1, longest.base, longest.size, box, line[0].page, flow)


def _margins(pieces: list[Piece]) -> list[Piece]:
    rows = [piece for piece in pieces if isinstance(piece, Row)]
    if not rows:
        return pieces
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    return [piece._replace(left=left, right=right) if isinstance(piece, Row) else piece for piece in pieces]
