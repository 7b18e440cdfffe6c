"""Pieces of a page: runs of text with their place, and tables; what a reader gives and the layout orders."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Box = tuple[float, float, float, float]

CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


class Segment(NamedTuple):
    """A run of text on one baseline. Coordinates are those of upright text, `box` those of the page, in points."""

    text: str
    x0: float
    x1: float
    base: float
    """Height of the baseline, from the top."""
    size: float
    """Of the font."""
    box: Box
    page: int
    odd: bool = False
    """Runs in another direction than the page's text: a stamp, a label at the side."""


class Grid(NamedTuple):
    """A ruled table: rows of cells as text."""

    rows: list[list[str]]
    boxes: list[Box]
    """Of the rows, on the page."""
    x0: float
    x1: float
    base: float
    """Of its first row, in the coordinates of upright text."""
    page: int


class Sheet(NamedTuple):
    """A page as its reader gave it; width and height are those of upright text."""

    page: int
    width: float
    height: float
    segments: list[Segment]
    grids: list[Grid]


def union(boxes: list[Box]) -> Box:
    """The box around all of them."""
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def table_row(cells: list[str]) -> str:
    """A row of a Markdown table; bars and line ends of a cell are escaped."""
    clean = [re.sub(r"\s+", " ", cell).strip().replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(clean) + " |"


def rule_row(columns: int) -> str:
    """The row under a Markdown table's head."""
    return "| " + " | ".join(["---"] * columns) + " |"


def place(runs: list[list[Any]], page: int, scale: float) -> list[Segment]:
    """Runs of a picture as runs of the page; a dot is `scale` points."""
    segments = []
    for text, *corners in runs:
        x0, y0, x1, y1 = (round(value * scale, 1) for value in corners)
        size = round((y1 - y0) * 0.75)
        if text.strip():
            segments.append(Segment(text, x0, x1, y1 - (y1 - y0) * 0.2, float(size), (x0, y0, x1, y1), page))
    return segments
