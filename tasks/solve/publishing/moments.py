"""a function of a date → what of it the function gives, in words, and the date: `strftime(d, '%Y-%m')` is year and month of d."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_SIGNS = {
    **dict.fromkeys("Yy", "year"), "G": "ISO year", "C": "century", **dict.fromkeys("mbBh", "month"), "-m": "month",
    **dict.fromkeys("de", "day"), "-d": "day", **dict.fromkeys("aAwu", "weekday"), "j": "day of the year",
    **dict.fromkeys("UWV", "week"), **dict.fromkeys(("H", "I", "-H", "-I", "k", "l"), "hour"), "M": "minute", "S": "second",
    "f": "second", "g": "second", "n": "second", "p": "", "z": "", "Z": "", "q": "quarter", "s": "epoch",
    **dict.fromkeys("xFD", "date"), **dict.fromkeys("XTR", "time"), "c": "date and time",
}  # fmt: skip
"""What stands behind `%`, of all that DuckDB, SQLite and MySQL write so."""
_LETTERS = (
    ("yyyy", "year"), ("yy", "year"), ("month", "month"), ("mon", "month"), ("mm", "month"), ("day", "weekday"), ("ddd", "day of the year"),
    ("dd", "day"), ("dy", "weekday"), ("hh24", "hour"), ("hh12", "hour"), ("hh", "hour"), ("mi", "minute"), ("ss", "second"),
    ("q", "quarter"), ("ww", "week"), ("iw", "week"), ("d", "weekday"),
)  # fmt: skip
"""Those of `to_char`."""
_PARTS = {
    "dow": "weekday", "isodow": "weekday", "dayofweek": "weekday", "dayofweek_iso": "weekday", "weekday": "weekday",
    "dayname": "weekday", "day_of_week": "weekday", "day_of_week_iso": "weekday", "doy": "day of the year", "dayofyear": "day of the year",
    "day_of_year": "day of the year", "dayofmonth": "day", "day_of_month": "day", "monthname": "month", "weekofyear": "week",
    "week_of_year": "week", "isoyear": "ISO year", "yearweek": "year and week", "y": "year", "yr": "year", "years": "year", "mon": "month",
    "months": "month", "days": "day", "weeks": "week", "hours": "hour", "quarters": "quarter",
}  # fmt: skip
"""Parts and functions whose own names are no words."""
_READ = ("str_to_time", "try_strptime", "str_to_date", "to_date", "to_timestamp", "ts_or_ds_to_date", "make_timestamp")
"""Functions that only write or read a date as another type: the date is what they give."""
_WRITTEN = ("time_to_str", "strftime", "date_format", "format_datetime", "to_char", "format_date")
_FROM = ("date_part", "datepart", "date_trunc", "datetrunc")


def moment(part: exp.Expr, name: str) -> tuple[str, exp.Expr] | None:
    """Words and the date that they are of; no words where the function only reads the date. `name` is the function's, in small letters."""
    from sqlglot import exp

    given = [each for each in (part.this, *_more(part)) if isinstance(each, exp.Expr)]
    if name in _READ and given:
        return "", given[0]
    if name in _WRITTEN and len(given) > 1:
        given.sort(key=lambda each: _text(each) is not None)  # older ways to write it put the format first
        text = _text(given[1])
        return None if text is None else (_of_format(text), given[0])
    if name in _FROM and len(given) > 1 and (unit := _text(given[0])):
        return _PARTS.get(unit.casefold(), unit.casefold()), given[1]
    if isinstance(part, exp.Extract) and isinstance(part.expression, exp.Expr):
        unit = str(part.this.name).casefold()
        return _PARTS.get(unit, unit), part.expression
    return (_PARTS[name], given[0]) if name in _PARTS and given else None


def _more(part: exp.Expr) -> list[exp.Expr]:
    """Arguments behind the first one, or all of them where the function is not known."""
    found = [part.args.get("format"), part.args.get("expression"), *part.expressions]
    return [each for each in found if each is not None]


def _text(part: exp.Expr) -> str | None:
    from sqlglot import exp

    return str(part.name) if isinstance(part, exp.Literal) and part.is_string else None


def _of_format(text: str) -> str:
    """The parts that a format shows, in its order: a whole day is a date, and what stands beside it a time."""
    if "%" in text:
        found = [_SIGNS.get(sign, "") for sign in re.findall(r"%(-?[A-Za-z])", text.replace("%%", ""))]
    else:
        letters = dict(_LETTERS)
        found = [letters[run] for run in re.findall("|".join(run for run, _ in _LETTERS), text.casefold())]
    parts = dict.fromkeys(filter(None, found))
    if {"year", "month", "day"} <= set(parts):
        parts = dict.fromkeys("date" if part in ("year", "month", "day") else part for part in parts)
    if "minute" in parts:
        parts = dict.fromkeys("time" if part in ("hour", "minute", "second") else part for part in parts)
    words = list(parts)
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
