"""Two results → whether a reader would call them the same table: the order of rows and columns, names, types and rounding aside."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.core.models.query import QueryResult
from tasks.core.models.value import Cell

_SHARE = 1e-6
"""How far numbers of single and of double precision may lie apart, as a share of them."""
Row = Sequence[Cell]


def alike(one: QueryResult, other: QueryResult) -> bool:
    """Whether each row of one is a row of the other, as often. Results that the preview does not show in full must have one digest.

    A number is as good as itself rounded to a digit behind the point or more.
    """
    if one.digest == other.digest:
        return True
    size = (one.row_count, len(one.columns))
    if not (one.shown_all and other.shown_all) or size != (other.row_count, len(other.columns)):
        return False
    order = _order(one.rows, other.rows, len(one.columns))
    if order is None:
        return False
    turned = [tuple(row[at] for at in order) for row in other.rows]
    pairs = zip(sorted(one.rows, key=_key), sorted(turned, key=_key), strict=True)
    return all(all(map(_near, left, right)) for left, right in pairs)


def _order(rows: Sequence[Row], others: Sequence[Row], width: int) -> list[int] | None:
    """For each column the one of the others that has its values; None where one has none."""
    left = list(range(width))
    found: list[int] = []
    for at in range(width):
        own = sorted((row[at] for row in rows), key=_place)
        for place in left:
            theirs = sorted((row[place] for row in others), key=_place)
            if all(map(_near, own, theirs)):
                found.append(place)
                left.remove(place)
                break
        else:
            return None
    return found


def _key(row: Row) -> list[tuple[int, float, str]]:
    return [_place(cell) for cell in row]


def _place(cell: Cell) -> tuple[int, float, str]:
    """Where a value stands in an order of all kinds of them; numbers as far as they surely count."""
    number = _number(cell)
    return (1, 0.0, str(cell)) if number is None else (0, number, "")


def _number(cell: Cell) -> float | None:
    return None if isinstance(cell, bool | str) or cell is None else float(cell)


def _near(one: Cell, other: Cell) -> bool:
    left, right = _number(one), _number(other)
    if left is None or right is None:
        return left is right and one == other and type(one) is type(other)
    gap = abs(left - right)
    if gap <= _SHARE * max(abs(left), abs(right)):
        return not (isinstance(one, int) and isinstance(other, int)) or one == other
    digits = min(_digits(left), _digits(right))
    return digits > 0 and gap <= 0.500001 * 10.0**-digits


def _digits(number: float) -> int:
    """Digits behind the point; 0 for whole numbers and for those that are written with an exponent."""
    text = repr(number)
    return 0 if "e" in text or number.is_integer() else len(text.partition(".")[2])
