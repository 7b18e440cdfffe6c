"""Masks of a text column's values → that they are numbers with a unit (`12 kg`, `9.75公顷`), and the SQL that reads them where it is one.

A column of several units has no one reading: its values would have to be brought to one first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tasks.core.models.catalogue import Form
from tasks.core.sql.names import literal
from tasks.core.sql.numerals import Mask, numbers

_AMOUNT = re.compile(
    r"(?P<number>[-+−]?[0-9](?:[0-9.,'’\u00a0\u202f ]*[0-9])?)[ \u00a0\u202f]?"
    r"(?P<unit>(?:[^\W\d_]|°)(?:[^\W\d_]|[ ./°·^²³-](?=.)){0,14}[²³23]?\.?)?"
)
_UNPROVED = 3
"""Values from which one and the same word behind numbers is a unit, whatever it says; a single letter may be part of a code."""
_MOST = 6
"""Different units of one column."""
_END = r"\s*({ends})\s*$"
_PLURAL = 4
"""Letters from which an `s` at the end is that of a plural: `days`, but not `ms`."""


class _Amounts(NamedTuple):
    """Values of a column that are numbers, each with a unit or none."""

    bare: list[Mask]
    """The same values without their units."""
    written: dict[str, str]
    """The whole text of the example of each of them."""
    units: dict[str, list[str]]
    """Spellings by unit; `""` for none."""


def amounts(masks: Sequence[Mask], values: int) -> Form | None:
    """The column's form; None where a value is something else, or none has a unit. `read` is still 0 where there is SQL."""
    found = _split(masks)
    if found is None or not any(found.units):
        return None
    named = [unit for unit in found.units if unit]
    if len(found.units) == 1:
        is_word = values >= _UNPROVED and not (len(named[0]) == 1 and named[0].isascii())
        return _of_one(found, values) if is_word or _is_known(named[0]) else None
    if len(named) > _MOST or not all(map(_is_known, named)):
        return None
    listed = ", ".join(repr(found.units[unit][0]) for unit in named) + " and none" * ("" in found.units)
    return Form(
        kind="number",
        says=f"numbers in several units ({listed})",
        values=values,
        read=values,
        example=next(text for number, text in found.written.items() if number != text),
        reading="a query has to bring them to one unit",
    )


def _split(masks: Sequence[Mask]) -> _Amounts | None:
    bare: list[Mask] = []
    written: dict[str, str] = {}
    units: dict[str, list[str]] = {}
    for mask in masks:
        found = _AMOUNT.fullmatch(mask.example)
        if not found or mask.zeros or len(mask.text) != len(mask.example):
            return None
        number, unit = found["number"], found["unit"] or ""
        bare.append(Mask(mask.text[: len(number)], mask.count, number))
        written[number] = mask.example
        spellings = units.setdefault(_folded(unit), [])
        if unit not in spellings:
            spellings.append(unit)
    return _Amounts(bare, written, units)


def _folded(unit: str) -> str:
    """A unit in its one spelling: without a dot at its end, and a word in the singular."""
    unit = unit.rstrip(".")
    return unit.casefold().removesuffix("s") if len(unit) >= _PLURAL and unit.isascii() else unit


def _is_known(unit: str) -> bool:
    """Whether it is a unit of something; an `x` behind a number may be `times`, and may be a sign of a code."""
    from tasks.core.values.units import RATIO, unit_of

    found = unit_of(unit)
    return found is not None and found.dimension not in ("", RATIO)


def _of_one(found: _Amounts, values: int) -> Form | None:
    form = numbers(found.bare, values)
    if form is None or not form.sql:
        return None
    ((_, spellings),) = found.units.items()
    ends = "|".join(re.escape(unit) for unit in sorted(spellings, key=len, reverse=True))
    text = f"regexp_replace({{x}}, {literal(_END.format(ends=ends))}, '')"
    says = "numbers" if form.says == "numbers" else f"{form.says},"
    return form.model_copy(
        update={
            "says": f"{says} with the unit {spellings[0]!r}",
            "sql": form.sql.replace("{x}", text),
            "otherwise": form.otherwise.replace("{x}", text),
            "example": found.written.get(form.example, form.example),
            "sortable": False,
        }
    )
