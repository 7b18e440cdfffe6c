"""Readings of a column → the same, those `unverified` whose size does not fit their column.

Only a number with no unit or half of one is doubted, and what model code read: a unit or percent sign in the text says
what it means.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from tasks.core.models.document import PlanColumn, Reading
from tasks.document.normalising.reading import doubted, is_number

_BARE = re.compile(r"[\s约大概近about~≈]*[-+−(]?\s*[\d.,'\s]+\)?\s*", re.IGNORECASE)
_RATIO = re.compile(r"(?i)ratio|fraction|小数|比率")
_FACTOR, _GAP = 10.0, 1000.0
_FEW, _SOME = 3, 8
_OVER = 0.1
"""Share of bare numbers that no ratio can be, above which none of a column's bare numbers is believed."""


def is_ratio(column: PlanColumn) -> bool:
    """Whether the table holds shares of 1."""
    return bool(_RATIO.search(column.unit))


def is_bare(raw: str) -> bool:
    """Whether a text is a number without any unit, sign of percent or word of size."""
    return bool(_BARE.fullmatch(unicodedata.normalize("NFKC", raw)))


def check(column: PlanColumn, readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """The readings in the same order; a doubted one keeps its value and says why."""
    sizes = {r.raw: abs(float(r.value)) for r in readings if is_number(r.value) and r.value}
    doubtful = {r.raw for r in readings if r.raw in sizes and (is_bare(r.raw) or _assumed(r))}
    sure = [size for raw, size in sizes.items() if raw not in doubtful]
    bare = [r for r in readings if is_bare(r.raw) and (r.raw in sizes or r.value is None)]
    over = [r for r in bare if r.value is None or sizes[r.raw] > 1]
    in_percent = is_ratio(column) and len(over) > _OVER * len(bare)
    checked = []
    for reading in readings:
        reason = ""
        if reading.raw in doubtful:
            size = sizes[reading.raw]
            if is_ratio(column) and is_bare(reading.raw) and (size > 1 or in_percent):
                reason = (
                    "no percent sign, and too large for a ratio" if size > 1 else "most bare numbers here are above 1"
                )
            reason = reason or _off(size, sure, [other for raw, other in sizes.items() if raw != reading.raw])
        checked.append(doubted(reading, reason) if reason else reading)
    return tuple(checked)


def _assumed(reading: Reading) -> bool:
    """Whether model code or the library supplied a part of the unit (an amount of money as a price a share)."""
    return reading.status == "derived" or bool(reading.assumed)


def _off(size: float, sure: Sequence[float], others: Sequence[float]) -> str:
    """How a size is off those whose unit is written, or off all others by far more."""
    if len(sure) >= _FEW and not min(sure) / _FACTOR <= size <= max(sure) * _FACTOR:
        return f"more than {_FACTOR:g} times off the values of this column whose unit is written"
    if len(others) >= _SOME and all(abs(math.log10(size / other)) >= math.log10(_GAP) for other in others):
        return f"more than {_GAP:g} times off every other value of this column"
    return ""
