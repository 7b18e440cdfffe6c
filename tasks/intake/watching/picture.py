"""Runs of text of a picture, with their place → its rows from top to bottom, cells from left to right."""

from __future__ import annotations

from typing import Any


def rows(runs: list[list[Any]]) -> str:
    """One row a line, ` | ` between what stands beside each other. A run is text, x0, y0, x1, y1 in dots."""
    found: list[list[list[Any]]] = []
    for run in sorted(runs, key=lambda run: (run[2] + run[4], run[1])):
        beside = found[-1] if found and _overlap(found[-1][0], run) else None
        if beside is None:
            found.append([run])
        else:
            beside.append(run)
    return "\n".join(" | ".join(cell[0].strip() for cell in sorted(row, key=lambda run: run[1])) for row in found)


def _overlap(one: list[Any], other: list[Any]) -> bool:
    """Whether the heights of two runs overlap by half of the lower one."""
    shared = min(one[4], other[4]) - max(one[2], other[2])
    return bool(shared >= 0.5 * min(one[4] - one[2], other[4] - other[2]))
