"""Header + first rows → what is said of a row below the header that looks like a second one: units, or names again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tasks.core.values.units import unit_of
from tasks.intake.loading.columns import MARKS, cut

_LEAST, _MOST = 2, 50
"""Rows below it that are looked at; with fewer nothing is said."""
_SHOWN = 3


class Field(NamedTuple):
    """A cell with something in it."""

    text: str
    typed: bool
    """A number, a day or the like."""


Fields = Sequence[Field | None]


def said(number: int, header: Sequence[str | None], rows: Sequence[Fields]) -> tuple[str, ...]:
    """A note where the first of `rows` (all those below the header; it is row `number`) looks like a second header.

    That is a row without numbers or days that has words where all rows below it have these, in several columns, or else
    a unit, or nothing beside it. It stays a row of data: nobody but the reader knows what it is.
    """
    first, below = (rows[0], rows[1 : 1 + _MOST]) if rows else ((), ())
    if len(below) < _LEAST or any(field and field.typed for field in first):
        return ()
    odd = {place: field.text for place, field in enumerate(first) if field and _is_odd(field, place, below)}
    alone = len(odd) == sum(field is not None for field in first)
    if not odd or not (len(odd) > 1 or alone or all(_is_unit(text) for text in odd.values())):
        return ()
    names = [(header[place] if place < len(header) else None) or f"column{place + 1}" for place in odd]
    return (
        f"row {number} looks like a second row of names or units ({_listed([repr(cut(text)) for text in odd.values()])}); "
        f"it was kept as a row of data, so that these columns are text: {_listed(names)}",
    )


def _is_odd(field: Field, place: int, below: Sequence[Fields]) -> bool:
    """Whether it is a word where all rows below have numbers or days."""
    under = [row[place] for row in below if place < len(row)]
    filled = [one for one in under if one]
    return field.text.strip() not in MARKS and len(filled) >= _LEAST and all(one.typed for one in filled)


def _is_unit(text: str) -> bool:
    return unit_of(text.strip("()[]（）【】 ")) is not None


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:_SHOWN]) + (f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else "")
