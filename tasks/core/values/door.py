"""A raw text as written in a document + the column's type and unit → the value, its status and a note."""

from __future__ import annotations

import math
from fractions import Fraction

from tasks.core.models.document import ColumnType, Reading
from tasks.core.values.clean import LONGEST, clean
from tasks.core.values.context import ASSUMED, Context, Undecided, Unread
from tasks.core.values.dates import moment, read_date
from tasks.core.values.durations import read_duration
from tasks.core.values.hedges import ROUNDED
from tasks.core.values.number import read_number
from tasks.core.values.words import is_null, is_zero, yes_or_no

__all__ = ["Context", "read_value"]

DEFAULT = Context()


def read_value(raw: str, column_type: ColumnType, unit: str = "", context: Context = DEFAULT) -> Reading:
    """`verified` with the exact value; `missing` where the text says that none is given; else `unverified`, value None.

    Numbers are in `unit` (int where whole in integer columns, else the nearest float), dates `YYYY-MM-DD`, datetimes
    `YYYY-MM-DD HH:MM:SS`, durations a number in `unit` or ISO 8601. The note says what was assumed or why nothing is read.
    """
    text = clean(raw)
    if is_null(text, context, free=column_type == "text"):
        return Reading(raw=raw, value=None, status="missing", note="the text gives no value")
    if column_type == "text":
        return Reading(raw=raw, value=raw.strip(), status="verified")
    try:
        value, notes = _typed(text, column_type, unit, context)
    except Unread as problem:
        undecided = isinstance(problem, Undecided)
        return Reading(raw=raw, value=None, status="unverified", note=str(problem), undecided=undecided)
    return Reading(
        raw=raw,
        value=value,
        status="verified",
        note="; ".join(notes),
        rounded=any(note in ROUNDED for note in notes),
        assumed=next((note.rpartition(ASSUMED)[2] for note in notes if ASSUMED in note), ""),
    )


def _typed(
    text: str, column_type: ColumnType, unit: str, context: Context
) -> tuple[str | int | float | bool, tuple[str, ...]]:
    if len(text) > LONGEST:
        raise Unread(f"longer than {LONGEST} characters")
    if column_type == "boolean":
        answer = yes_or_no(text)
        if answer is None:
            raise Unread("neither yes nor no")
        return answer, ()
    if column_type in ("date", "datetime"):
        return _calendar(text, column_type, context)
    if is_zero(text, unit, context):
        return 0, ("said in words",)
    if column_type == "duration":
        length, notes = read_duration(text, unit, context)
        return (length if isinstance(length, str) else _number(length)), notes
    exact, notes = read_number(text, unit, context)
    if column_type == "integer":
        if exact.denominator != 1:
            raise Undecided(f"{float(exact):g} is not whole")
        return int(exact), notes
    return _number(exact), notes


def _calendar(text: str, column_type: ColumnType, context: Context) -> tuple[str, tuple[str, ...]]:
    day, clock, notes = read_date(text, context)
    if column_type == "date":
        return day.isoformat(), (*notes, "time left out") if clock else notes
    return moment(day, clock), notes if clock else (*notes, "no time written: midnight")


def _number(exact: Fraction) -> int | float:
    """int for a whole number, else the float nearest to the exact value."""
    if exact.denominator == 1 and abs(exact) < 2**63:
        return int(exact)
    try:
        value = float(exact)
    except OverflowError as problem:
        raise Undecided("out of range") from problem
    if not math.isfinite(value):
        raise Undecided("out of range")
    return value
