"""A number and what it counts → `1 row`, `12,340 rows`."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun; `many` where an `s` behind `one` is not enough: `1 row has`, `2 rows have`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
