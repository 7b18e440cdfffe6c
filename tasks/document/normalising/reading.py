"""A reading → whether it is a number, whether another says the same, and itself as doubted."""

from __future__ import annotations

import math
from typing import TypeGuard

from tasks.core.models.document import Plain, Reading
from tasks.document.records.anchors import plain

SAME = 1e-9
"""Part of a number by which an equal one may differ."""


def is_number(value: object) -> TypeGuard[int | float]:
    """A number, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(a: Plain, b: Plain) -> bool:
    """Whether two values are one; 1 and 1.0 are, True and 1 are not."""
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str | None) or isinstance(b, str | None):
        return type(a) is type(b) and (a == b or (isinstance(a, str) and plain(a) == plain(str(b))))
    return a == b or math.isclose(a, b, rel_tol=SAME)


def doubted(reading: Reading, reason: str) -> Reading:
    """The reading as unverified, with the reason in its note."""
    note = f"{reading.note}; {reason}" if reading.note else reason
    return reading.model_copy(update={"status": "unverified", "note": note})
