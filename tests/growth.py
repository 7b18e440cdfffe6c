"""Sizes + seconds → how they grow, as an exponent and as curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from tasks.benchmark.reporting.plots import Plot, png, svg

Points = Sequence[tuple[int, float]]
"""Size and seconds, sizes ascending."""
_COLOURS = ("#2b6ca3", "#c9772b", "#4c8c4a", "#8a5fb0", "#b0484f")
_WIDTH, _LEFT, _RIGHT, _TOP, _TALL = 760, 70, 220, 40, 180


def exponent(points: Points) -> float:
    """Slope between the two largest sizes on logarithmic scales: 1 is linear, 2 is quadratic; what starts once counts little there."""
    (small, before), (large, after) = points[-2:]
    return math.log(max(after, 1e-9) / max(before, 1e-9)) / math.log(large / small)


def curves(title: str, unit: str, lines: Mapping[str, Points]) -> Plot:
    """Seconds over sizes, both logarithmic, a line for each name."""
    sizes = sorted({size for points in lines.values() for size, _ in points})
    seconds = [max(value, 1e-6) for points in lines.values() for _, value in points]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)) + 1e-9)
    room = _WIDTH - _LEFT - _RIGHT

    def at(size: int, value: float) -> tuple[float, float]:
        across = math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])
        up = (math.log10(max(value, 1e-6)) - low) / max(high - low, 1)
        return _LEFT + room * across, _TOP + _TALL * (1 - up)

    parts = [f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}, seconds by {escape(unit)}</text>']
    for power in range(low, high + 1):
        _, y = at(sizes[0], 10.0**power)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + room}" y2="{y:.1f}" stroke="#dddad4"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#60656d">{10.0**power:g}</text>')
    for size in sizes:
        x, _ = at(size, 1.0)
        parts.append(f'<text x="{x:.1f}" y="{_TOP + _TALL + 18}" text-anchor="middle" fill="#60656d">{size:,}</text>')
    for number, (name, points) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [at(size, value) for size, value in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y = _TOP + 14 + number * 20
        parts.append(f'<rect x="{_LEFT + room + 20}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{_LEFT + room + 36}" y="{y}">{escape(name)}</text>')
    return Plot("".join(parts), _TOP + _TALL + 34)


def picture(made: Sequence[Plot]) -> bytes:
    """The plots below each other, as PNG."""
    return png(svg(made))
