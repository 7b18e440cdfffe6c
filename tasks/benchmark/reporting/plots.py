"""figures of a run → plots as SVG, and the same picture as PNG; drawn here, because three kinds of marks are all they need."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from tasks.core.models.benchmark import Benchmark, Move

_COLOURS = ("#2b6ca3", "#c9772b", "#4c8c4a", "#8a5fb0", "#b0484f", "#5f6b75")
_INK, _SOFT, _LINE = "#1c2024", "#60656d", "#dddad4"
_WIDTH, _LEFT, _RIGHT, _ROW = 760, 230, 130, 24
_LABEL_SIGNS = 34
_MOST_MOVES = 40
_DPI = 144
"""Twice the size of the drawing."""


class Bar(NamedTuple):
    """One bar with its whisker."""

    label: str
    value: float
    spread: float
    """Half of the whisker's length."""
    said: str
    colour: str


class Plot(NamedTuple):
    """A drawing and its height in pixels; all are equally wide."""

    body: str
    height: int


def plots(found: Benchmark) -> list[Plot]:
    """Scores with σ; seconds and tokens of a question; tasks that moved since the other run."""
    setups = list(dict.fromkeys(s.setup for s in found.setups))
    colour = {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(setups)}
    rows = [(f"{s.suite or 'all'} · {s.setup}", s) for s in found.setups]
    score = [
        Bar(
            label,
            s.score,
            s.sigma or 0.0,
            f"{s.score:.3f}" + (f" ± {s.sigma:.3f}" if s.sigma is not None else ""),
            colour[s.setup],
        )
        for label, s in rows
    ]
    seconds = [Bar(label, s.seconds, 0.0, f"{s.seconds:.1f} s", colour[s.setup]) for label, s in rows]
    tokens = [Bar(label, s.tokens, 0.0, f"{s.tokens:,.0f}", colour[s.setup]) for label, s in rows]
    made = [
        bars("Score (mean, σ over repeats)", score, 1.0),
        bars("Seconds a question", seconds),
        bars("Tokens a question", tokens),
    ]
    if found.against and found.against.moves:
        made.append(moved(f"Tasks that moved since {found.against.before}", found.against.moves))
    return made


def bars(title: str, rows: Sequence[Bar], most: float = 0.0) -> Plot:
    """Horizontal bars from 0 to `most`; 0 = to the largest value."""
    top = most or max((bar.value + bar.spread for bar in rows), default=0.0) or 1.0
    room = _WIDTH - _LEFT - _RIGHT
    parts = [_title(title), _axis(room, len(rows), (0.0, top / 2, top))]
    for at, bar in enumerate(rows):
        y = 44 + at * _ROW
        width = room * min(bar.value / top, 1.0)
        parts.append(_text(_LEFT - 8, y + 13, bar.label, anchor="end"))
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="16" fill="{bar.colour}"/>')
        end = _LEFT + width
        if bar.spread:
            low, high = (_LEFT + room * min(max(bar.value + way * bar.spread, 0.0) / top, 1.0) for way in (-1, 1))
            parts.append(_line((low, y + 8), (high, y + 8), _INK, 1.6))
            parts += [_line((x, y + 4), (x, y + 12), _INK, 1.6) for x in (low, high)]
            end = max(end, high)
        parts.append(_text(end + 6, y + 13, bar.said))
    return Plot("".join(parts), 44 + len(rows) * _ROW + 26)


def moved(title: str, moves: Sequence[Move]) -> Plot:
    """A line from each task's score before to the one after, the largest falls first."""
    room = _WIDTH - _LEFT - _RIGHT
    shown = moves[:_MOST_MOVES]
    parts = [_title(title), _axis(room, len(shown), (0.0, 0.5, 1.0))]
    for at, move in enumerate(shown):
        y = 44 + at * _ROW + 8
        before, after = _LEFT + room * move.before, _LEFT + room * move.after
        colour = _COLOURS[2] if move.after > move.before else _COLOURS[4]
        parts.append(_text(_LEFT - 8, y + 5, f"{move.suite}/{move.task} · {move.setup}", anchor="end"))
        parts.append(_line((before, y), (after, y), colour, 2.5))
        parts.append(f'<circle cx="{before:.1f}" cy="{y}" r="4" fill="#ffffff" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{after:.1f}" cy="{y}" r="5" fill="{colour}"/>')
        parts.append(_text(_WIDTH - _RIGHT + 10, y + 5, f"{move.before:.2f} → {move.after:.2f}"))
    return Plot("".join(parts), 44 + len(shown) * _ROW + 26)


def svg(made: Sequence[Plot]) -> str:
    """The plots in one drawing, one below the other."""
    y, parts = 0, []
    for plot in made:
        parts.append(f'<g transform="translate(0,{y})">{plot.body}</g>')
        y += plot.height
    font = "Helvetica, Arial, 'Noto Sans CJK SC', sans-serif"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}" viewBox="0 0 {_WIDTH} {y}" '
        f'font-family="{font}" font-size="13"><rect width="{_WIDTH}" height="{y}" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def png(drawing: str) -> bytes:
    """A drawing as a picture of twice its size."""
    import pymupdf

    document: Any = pymupdf.open("svg", drawing.encode())  # type: ignore[no-untyped-call]
    with document:
        picture: bytes = document[0].get_pixmap(dpi=_DPI).tobytes("png")
    return picture


def _title(text: str) -> str:
    return f'<text x="12" y="22" font-size="15" font-weight="bold" fill="{_INK}">{escape(text)}</text>'


def _axis(room: int, rows: int, ticks: Sequence[float]) -> str:
    bottom = 44 + rows * _ROW
    parts = []
    for tick in ticks:
        x = _LEFT + room * tick / ticks[-1]
        parts.append(_line((x, 38), (x, bottom), _LINE, 1))
        parts.append(_text(x, bottom + 14, f"{tick:,.4g}", anchor="middle", colour=_SOFT))
    return "".join(parts)


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, width: float) -> str:
    places = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {places} stroke="{colour}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = _INK) -> str:
    cut = text if len(text) <= _LABEL_SIGNS else text[: _LABEL_SIGNS - 1] + "…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(cut)}</text>'
