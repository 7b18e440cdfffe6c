"""Raw cell of a spreadsheet and its number format → what it means: number, text, date, percent, code with zeros."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import NamedTuple

Moment = datetime.datetime | datetime.date | datetime.time | datetime.timedelta

_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.')
_CODE = re.compile(r"0{2,}")
_CODE_PARTS = re.compile(r"0+(?:[- /]0+)+")
_DAY = re.compile(r"(?i)[yd](?![^\[]*\])")
_MONEY = re.compile(r"[$€£¥￥₹元]|\[\$([^\]-]+)")
_EXACT = 10**15
"""Whole numbers below this are exact in a spreadsheet, which keeps 15 digits."""


class Cell(NamedTuple):
    """A cell that is not empty. `text` is its value as text, None where there is none (`error`, `formula`)."""

    kind: str
    """`integer`, `decimal`, `code`, `text`, `boolean`, `date`, `moment`, `time`, `error`, `formula`."""
    text: str | None
    format: str = ""
    """For numbers shown as percent or money: the format; for errors: their name."""


class Format(NamedTuple):
    """What a number format says: `plain`, `date`, `duration`, `code`, `percent`, `money`; dates may show a clock time."""

    kind: str
    clock: bool = False
    code: str = ""


@lru_cache(maxsize=4096)
def read_format(code: str) -> Format:
    """Judge a number format by its first section (`0.0%;[Red]-0.0%` → percent)."""
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format

    first = code.split(";")[0]
    if is_timedelta_format(first):
        return Format("duration", True, code)
    bare = _QUOTED.sub("", first)
    if is_date_format(bare):
        return Format("date", bool(re.search(r"[hs]", bare, re.IGNORECASE)), code)
    if "%" in bare:
        return Format("percent", False, code)
    whole = re.sub(r"\[[^\]]*\]", "", bare).strip()
    if _CODE.fullmatch(whole) or _CODE_PARTS.fullmatch(whole):
        return Format("code", False, whole)
    if _MONEY.search(first):
        return Format("money", False, code)
    return Format("plain")


def number(raw: str, style: Format, since_1904: bool) -> Cell:
    """A numeric cell; `raw` is as in the file, all digits kept where it has no exponent and no point."""
    if style.kind in ("date", "duration"):
        found = _from_serial(float(raw), style, since_1904)
        if found:
            return found
    text = plain(raw)
    whole = text.lstrip("-").isdigit()
    if style.kind == "code" and whole and not text.startswith("-"):
        return Cell("code", _coded(text, style.code))
    shown = style.code if style.kind in ("percent", "money") else ""
    return Cell("integer" if whole else "decimal", text, shown)


def plain(raw: str) -> str:
    """The shortest text of a number: `600519.0` → `600519`, `0.10000000000000001` → `0.1`."""
    raw = raw.strip()
    if re.fullmatch(r"-?(0|[1-9]\d*)", raw):
        return "0" if raw == "-0" else raw
    value = float(raw)
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)


def moment(value: Moment, clock: bool = True) -> Cell:
    """A date or time that the reader has made already; `clock` tells whether its format shows the time of the day."""
    if isinstance(value, datetime.datetime):
        if value.time() == datetime.time() and not clock:
            return Cell("date", value.date().isoformat())
        return Cell("moment", value.replace(tzinfo=None).isoformat(sep=" "))
    if isinstance(value, datetime.timedelta):
        return Cell("time", _duration(value))
    return Cell("time" if isinstance(value, datetime.time) else "date", value.isoformat())


def _coded(text: str, code: str) -> str:
    """As the format shows it: `000000` fills with zeros, `000-0000` also sets the signs."""
    filled = text.zfill(code.count("0"))
    if _CODE.fullmatch(code):
        return filled
    shown, rest = "", list(filled)
    for sign in reversed(code):
        shown = (rest.pop() if sign == "0" else sign) + shown
    return "".join(rest) + shown


def _from_serial(serial: float, style: Format, since_1904: bool) -> Cell | None:
    """A day number → Cell; None where the calendar does not reach, so that the number stays."""
    if style.kind == "duration":
        return Cell("time", _duration(datetime.timedelta(seconds=round(serial * 86400, 3))))
    if 0 <= serial < 1 and style.clock and not _DAY.search(_QUOTED.sub("", style.code)):
        made = datetime.datetime.min + datetime.timedelta(seconds=round(serial * 86400, 3))
        return Cell("time", made.time().isoformat())
    if serial < (0 if since_1904 else 1) or (not since_1904 and 60 <= serial < 61):
        return None  # day 60 is 29 February 1900, which there never was
    epoch = datetime.datetime(1904, 1, 1) if since_1904 else datetime.datetime(1899, 12, 30 if serial > 60 else 31)
    try:
        found = epoch + datetime.timedelta(seconds=round(serial * 86400, 3))
    except OverflowError:
        return None
    return moment(found, style.clock)


def _duration(value: datetime.timedelta) -> str:
    """`[h]:mm:ss`, hours not cut at 24."""
    seconds = value.total_seconds()
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    return f"{sign}{int(hours)}:{int(minutes):02}:{int(left):02}"
