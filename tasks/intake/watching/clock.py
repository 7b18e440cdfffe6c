"""A number or text that tells a time → seconds from the video's start, None where it tells none."""

from __future__ import annotations

import math
import re
from typing import Any

_CLOCK = r"(?:\d{1,3}:)?\d{1,3}:\d{1,2}(?:[.,]\d+)?"
TIME = rf"(?:{_CLOCK}|\d+(?:[.,]\d+)?(?=\s*s\b|\s*sec|\s*秒)|\d+(?:[.,]\d+)?)"
"""A time in running text: `01:02:03.5`, `1:02`, `62.5 s`, `62.5`."""
_TEXT = re.compile(rf"\s*({TIME})\s*(ms|s|secs?|seconds?|秒)?\s*", re.IGNORECASE)
_LONGEST = 7 * 86_400


def seconds(value: Any, milli: bool = False) -> float | None:
    """Of a number, a text (`01:02.5`, `62.5s`) or the first of several; `milli` when a bare number counts milliseconds."""
    if isinstance(value, list | tuple) and value:
        return seconds(value[0], milli)
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if not found:
            return None
        unit = (found[2] or "").lower()
        return _bounded(
            _of_clock(found[1]) / (1000 if unit == "ms" or (milli and not unit and ":" not in value) else 1)
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _bounded(value / (1000 if milli else 1))
    except OverflowError:
        return None


def _of_clock(text: str) -> float:
    total = 0.0
    for part in text.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


def _bounded(value: float) -> float | None:
    """A time that no video has is none: it may be a day and hour, or damage."""
    return round(value, 3) if math.isfinite(value) and 0 <= value <= _LONGEST else None
