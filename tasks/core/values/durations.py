"""A clean text with a length of time (2小时30分钟, 1h 20m, 01:30:00, PT90M) → number in the column's unit, or an ISO 8601 text."""

from __future__ import annotations

import re
from fractions import Fraction

from tasks.core.values.context import Context, Unread
from tasks.core.values.number import read_number
from tasks.core.values.quantity import measure
from tasks.core.values.units import target_of

_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)")
_ISO = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.I
)
_SHORT = re.compile(r"(\d+)\s?m(?=\s|\d|$)", re.I)
_HM = re.compile(r"(\d+)\s?h\s?(\d+)", re.I)


def read_duration(text: str, unit: str, context: Context) -> tuple[Fraction | str, tuple[str, ...]]:
    """Exact number in `unit`; without a unit an ISO 8601 duration; months and days never turn into each other."""
    seconds = _clock(text)
    target = target_of(unit)
    if not target.dimension:
        if seconds is not None:
            return _iso(seconds, Fraction(0)), ()
        amount = measure(_spelled(text), context)
        size = amount.number * amount.unit.factor
        if amount.unit.dimension not in ("time", "months"):
            raise Unread(f"{text[:60]}: no length of time")
        return _iso(size, Fraction(0)) if amount.unit.dimension == "time" else _iso(Fraction(0), size), amount.notes
    if seconds is not None:
        if target.dimension != "time":
            raise Unread(f"written in hours, not in {target.text}")
        return seconds / target.factor, ()
    return read_number(_spelled(text), unit, context)


def _spelled(text: str) -> str:
    """`1h 20m` with minutes that cannot be metres."""
    return _SHORT.sub(r"\1 min", _HM.sub(r"\1 h \2", text)) if "h" in text.lower() else text


def _clock(text: str) -> Fraction | None:
    if found := _CLOCK.fullmatch(text):
        return Fraction(int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]))
    found = _ISO.fullmatch(text)
    if not found or not any(found.groups()) or found[1] or found[2]:
        return None
    sizes = (604800, 86400, 3600, 60, 1)
    return sum(
        (Fraction(part) * size for part, size in zip(found.groups()[2:], sizes, strict=True) if part), Fraction(0)
    )


def _iso(seconds: Fraction, months: Fraction) -> str:
    if (
        months.denominator != 1
        or seconds.denominator not in (1, 2, 4, 5, 8, 10, 20, 25, 50, 100, 1000)
        or seconds < 0
        or months < 0
    ):
        raise Unread("a part of a month or a negative length has no ISO 8601 text")
    years, rest = divmod(int(months), 12)
    days, left = divmod(seconds, 86400)
    hours, left = divmod(left, 3600)
    minutes, left = divmod(left, 60)
    day = "".join(f"{count}{letter}" for count, letter in ((years, "Y"), (rest, "M"), (int(days), "D")) if count)
    clock = "".join(f"{count}{letter}" for count, letter in ((int(hours), "H"), (int(minutes), "M")) if count)
    clock += f"{float(left):g}S" if left else ""
    return f"P{day}{'T' + clock if clock else ''}" if day or clock else "PT0S"
