"""Pieces of all pages in reading order → Markdown lines, one paragraph a line, each with its place."""

from __future__ import annotations

import itertools
import re
import statistics
from collections import Counter
from typing import NamedTuple

from tasks.document.converting.layout import Piece, Row, Table
from tasks.document.converting.seams import Words, is_dense, join
from tasks.document.converting.segment import CJK, Box, rule_row, table_row, union

_HEADING, _LEVELS = 1.12, 4
_HEADING_CHARS = 200
_WIDER = 1.18
"""A step between lines by so much larger than usual parts paragraphs."""
_INDENT = 0.9
"""Of the font size."""
_SLACK = 3.0
"""Where a line may end early for reasons of its own, so many more characters must have fitted."""
_SURE, _HALF = 0.6, 0.5
_CLOSING = re.compile(r"[。！？!?.;；:：…][”’\"'」』）)\]】]*$")
_HYPHEN = re.compile(r"\w[-‐\u00ad]$")
_BULLET = re.compile(r"[•◦▪‣●○■□◆➢–—*-]\s+\S")


class Line(NamedTuple):
    """A line of the text."""

    text: str
    page: int
    box: Box | None


class _Style(NamedTuple):
    """How the document sets its text."""

    body: float
    levels: dict[float, int]
    leading: float
    """Usual step between two lines of a paragraph, in font sizes."""
    indented: bool
    """Paragraphs begin with an indent."""
    spaced: bool
    """Paragraphs stand apart."""
    words: Words


def write_lines(pieces: list[Piece]) -> list[Line]:
    """The document's lines; a paragraph that goes on in the next column or page is one line."""
    rows = [piece for piece in pieces if isinstance(piece, Row)]
    style = _style(rows)
    lines: list[Line] = []
    paragraph: list[Row] = []
    for piece in [*pieces, None]:
        if isinstance(piece, Row) and piece.text and paragraph and not _parted(paragraph, piece, style):
            paragraph.append(piece)
            continue
        if paragraph:
            lines.append(_paragraph(paragraph, style))
        paragraph = [piece] if isinstance(piece, Row) and piece.text else []
        if isinstance(piece, Table):
            lines += _table(piece)
    return lines


def _style(rows: list[Row]) -> _Style:
    sizes: Counter[float] = Counter()
    for row in rows:
        sizes[round(row.size, 1)] += len(row.text)
    body = statistics.median(sizes.elements()) if sizes else 10.0
    large = sorted({_grade(row.size) for row in rows if row.size > _HEADING * body}, reverse=True)
    levels = {size: min(level, _LEVELS) for level, size in enumerate(large, 1)}
    steps: Counter[float] = Counter()
    starts: list[tuple[bool, float]] = []
    for above, row in itertools.pairwise(rows):
        if above.flow != row.flow or above.page != row.page or row.size > _HEADING * body:
            continue
        step = (row.base - above.base) / max(row.size, 1)
        if not _is_short(above, row) and 0.9 < step < 2.6:
            steps[round(step, 1)] += 1
        if step > 0 and _is_short(above, row, _SLACK) and _CLOSING.search(above.text):
            starts.append((row.x0 > row.left + _INDENT * row.size, step))
    leading = _mode(steps)
    indented = sum(indent for indent, _ in starts) > _SURE * len(starts) > 1
    spaced = sum(_is_gap(step, leading) for _, step in starts) > _SURE * len(starts) > 1
    return _Style(body, levels, leading, indented, spaced, Words(row.text for row in rows))


def _mode(steps: Counter[float]) -> float:
    """The smallest step that is common: larger ones part paragraphs."""
    if not steps:
        return 1.6
    most = max(steps.values())
    return min(step for step, count in steps.items() if count >= 0.5 * most)


def _grade(size: float) -> float:
    return round(size * 2) / 2


def _level(row: Row, style: _Style) -> int:
    """Of a heading; 0 for other text."""
    if row.size <= _HEADING * style.body or len(row.text) > _HEADING_CHARS or not any(map(str.isalnum, row.text)):
        return 0
    return style.levels.get(_grade(row.size), _LEVELS)


def _parted(paragraph: list[Row], row: Row, style: _Style) -> bool:
    """Whether the row begins a new paragraph."""
    last = paragraph[-1]
    level = _level(last, style)
    if level != _level(row, style) or (level and (last.page, last.flow) != (row.page, row.flow)):
        return True
    step = (row.base - last.base) / max(row.size, last.size, 1)
    if level:
        return step > 2.2
    if _BULLET.match(row.text):
        return True
    if (last.page, last.flow) != (row.page, row.flow) or step < 0.3:
        return _ends(last, row, style)
    if _is_gap(step, style.leading) or abs(row.size - last.size) > 0.2 * style.body:
        return True
    indent = row.x0 - row.left
    if indent > _INDENT * row.size and row.x0 > last.x0 + _INDENT * row.size and len(paragraph) > 0:
        return not (len(paragraph) == 1 and _BULLET.match(paragraph[0].text))
    if style.indented or style.spaced:
        return last.x1 < last.left + _HALF * (last.right - last.left) and bool(_CLOSING.search(last.text))
    return _is_short(last, row) and not _HYPHEN.search(last.text)


def _is_gap(step: float, leading: float) -> bool:
    return step > max(_WIDER * leading, leading + 0.15)


def _ends(last: Row, row: Row, style: _Style) -> bool:
    """Whether the paragraph ends with its column or page."""
    fresh = row.x0 > row.left + _INDENT * row.size
    if style.indented:
        return fresh or _is_short(last, row, _SLACK)
    if row.text[0].islower():
        return False
    if last.x1 < last.left + _HALF * (last.right - last.left) or not any(map(str.isalpha, last.text)):
        return True
    return bool(_CLOSING.search(last.text)) or (fresh and last.x0 <= last.left + _INDENT * last.size)


def _is_short(above: Row, row: Row, slack: float = 0.6) -> bool:
    """Whether the first word of `row` would have fitted into the line above: its end was meant."""
    first = row.text.split(" ", 1)[0]
    if is_dense(first):
        run = re.match(r"[¥￥$€£]?[A-Za-z0-9０-９.,，．%％/:-]+|.", first)
        first = (run[0] if run else first[:1]) + "，"
    width = sum(1.0 if CJK.match(character) else 0.55 for character in first) + (0 if is_dense(above.text) else 0.3)
    return above.x1 + (width + slack) * row.size < above.right


def _paragraph(rows: list[Row], style: _Style) -> Line:
    text = rows[0].text
    for row in rows[1:]:
        text = join(text, row.text, style.words)
    text = re.sub(r"\s+", " ", text.replace("\u00ad", "")).strip()
    if level := _level(rows[0], style):
        text = "#" * level + " " + text
    first = [row for row in rows if row.page == rows[0].page and row.flow == rows[0].flow]
    return Line(text, rows[0].page, union([row.box for row in first]))


def _table(table: Table) -> list[Line]:
    width = max(map(len, table.rows), default=0)
    lines = []
    for index, (cells, box) in enumerate(zip(table.rows, table.boxes, strict=True)):
        lines.append(Line(table_row([*cells, *[""] * (width - len(cells))]), table.page, box))
        if index == 0:
            lines.append(Line(rule_row(width), table.page, box))
    return lines
