"""A clean text with a calendar date, and perhaps a time → day, time and notes, or Unread with the reason."""

from __future__ import annotations

import re
from datetime import date, datetime, time

from tasks.core.values.chinese import chinese
from tasks.core.values.clocks import time_of
from tasks.core.values.context import Context, Undecided, Unread
from tasks.core.values.hedges import strip_hedges
from tasks.core.values.periods import full_year, months, period_of

_NAMES = "january february march april may june july august september october november december"
MONTHS = {"sept": 9}
for _at, _name in enumerate(re.findall(r"\w+", _NAMES), 1):
    MONTHS |= {_name: _at, _name[:3]: _at}
"""By English name and its short form."""
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH = rf"(?P<b>{MONTH})\b\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<y>\d{4}|'?\d{2})"
_WEEKDAY = re.compile(
    r"(?:\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,? *(?:the )?)|\(?(?:星期|周|礼拜)[一二三四五六日天]\)?",
    re.I,
)
_LEAD = re.compile(r"^(?:on|dated?|as of|as at|since|from|于|在|截至|自|公元)\s*", re.I)
_ISO = re.compile(r"(?P<y>\d{4})(?P<s>[-/. ]{1,2})(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})\.?")
_COMPACT = re.compile(r"(?P<y>(?:1[5-9]|20|21)\d{2})(?P<m>\d{2})(?P<d>\d{2})")
_NUMERIC = re.compile(r"(?P<a>\d{1,2})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})\.?")
_CHINESE = re.compile(r"(?:(?P<era>民国|中华民国)?(?P<y>\d{1,4}|元)年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})(?:日|号|$)")
_CHINESE_MONTH = re.compile(r"(?:(?P<era>民国|中华民国)?(?P<y>\d{1,4}|元)年)(?P<m>\d{1,2})月份?(?P<e>末|底|初)?")
_ISO_MONTH = re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})")
_ENGLISH = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?:the )?{_DAY}(?: day)?(?: of)?[-\s/.]*{_MONTH}[-\s/,.]*(?:in )?{_YEAR}",
        rf"{_MONTH}[-\s/]*(?:the )?{_DAY}(?:,\s*|[-\s/]+){_YEAR}",
        rf"(?P<y>\d{{4}})[-\s/,]+{_MONTH}[-\s/]*{_DAY}",
        rf"(?:the )?{_DAY}(?: day)?(?: of)?[-\s]*{_MONTH}",
        rf"{_MONTH}[-\s]*(?:the )?{_DAY}",
    )
)
_ENGLISH_MONTH = re.compile(
    rf"(?:(?P<e>end|start|beginning) of )?{_MONTH}[-\s,/]*(?:of )?(?P<y>\d{{4}})|(?P<z>\d{{4}})[-\s]+(?P<c>{'|'.join(MONTHS)})\b",
    re.I,
)
_HAN_NUMBER = re.compile(r"[零〇○一二三四五六七八九十廿卅两]+(?=[年月日号])")
_HAN_TIME = re.compile(r"[零〇一二三四五六七八九十廿两]+(?=[点时分秒])")
_SPLIT = re.compile(
    r"(?P<date>.*?\d{4}年?\d*|.*?[日号]|.*?\d)(?:\s*T\s*|,?\s+(?:at )?|(?<=[日号]))(?P<time>(?:上午|下午|晚上|晚|凌晨|中午|早上|傍晚|清晨)?\d{1,2}(?:[:时点]).*|(?:上午|下午|晚上|晚|凌晨)\d.*|\d{1,2}(?:[:.]\d{2})? ?[ap]\.?m.*)", re.I)  # fmt: skip
_ROC = 1911


def read_date(text: str, context: Context) -> tuple[date, time | None, tuple[str, ...]]:
    """Day, time of day if one is written, and notes; Unread when the text does not name one day."""
    if _ISO.fullmatch(text):
        return _day(text, context) or _never(text), None, ()
    text, hedges = strip_hedges(_LEAD.sub("", text))
    text = _HAN_NUMBER.sub(_digits, text.replace("○", "〇"))
    text = _HAN_TIME.sub(_digits, _WEEKDAY.sub("", text)).strip(" ,")
    clock, notes = None, tuple(f"{kind} this day" for kind in hedges)
    try:
        found_day = _day(text, context)
        if found_day is None and (found := _SPLIT.fullmatch(text)):
            found_day, clock = _day(found["date"].strip(" ,"), context), time_of(found["time"])
            if clock is None:
                raise Unread(f"{found['time']}: no time of day")
        if found_day is not None:
            return found_day, clock, notes
        return (*_period(text, context), notes)
    except (ValueError, OverflowError) as problem:
        raise problem if isinstance(problem, Unread) else Undecided(f"{text}: no such day") from problem


def _never(text: str) -> date:
    raise Unread(f"{text}: no date")


def _digits(found: re.Match[str]) -> str:
    value = chinese(found[0])
    if value is None:
        raise Unread(f"{found[0]}: no one numeral")
    return str(value)


def _day(text: str, context: Context) -> date | None:
    """The day that the whole text names; None for another form; Unread where it is not decided."""
    if found := _ISO.fullmatch(text) or _COMPACT.fullmatch(text):
        try:
            return date(int(found["y"]), int(found["m"]), int(found["d"]))
        except ValueError as problem:
            raise Undecided(f"{text}: no such day") from problem
    if found := _CHINESE.fullmatch(text):
        return date(_era(found, context), int(found["m"]), int(found["d"]))
    if found := _NUMERIC.fullmatch(text):
        return _ordered(found, context)
    for pattern in _ENGLISH:
        if found := pattern.fullmatch(text):
            year = found.groupdict().get("y")
            return date(full_year(year and year.lstrip("'"), context), MONTHS[found["b"].lower()], int(found["d"]))
    return None


def _era(found: re.Match[str], context: Context) -> int:
    digits = found["y"]
    if found["era"]:
        return _ROC + (1 if digits == "元" else int(digits))
    if digits == "元" or (digits and len(digits) in (1, 3)):
        raise Undecided(f"year {digits}: era not written")
    return full_year(digits, context)


def _ordered(found: re.Match[str], context: Context) -> date:
    first, second, year = int(found["a"]), int(found["m"]), full_year(found["y"], context)
    order = context.date_order
    if len(found["y"]) == 2 and not order:
        raise Undecided(f"{found[0]}: order of day, month and year is not decided")
    if first == second or (first > 12 and order != "MDY"):
        return date(year, second, first)
    if second > 12 and order != "DMY":
        return date(year, first, second)
    if not order:
        raise Undecided(f"{found[0]}: day or month first, not decided")
    return date(year, second, first) if order == "DMY" else date(year, first, second)


def _period(text: str, context: Context) -> tuple[date, None]:
    if found := _CHINESE_MONTH.fullmatch(text):
        span, edge = (
            months(_era(found, context), int(found["m"]), int(found["m"])),
            {"末": "end", "底": "end", "初": "start"}.get(found["e"] or "", ""),
        )
    elif found := _ISO_MONTH.fullmatch(text):
        span, edge = months(int(found["y"]), int(found["m"]), int(found["m"])), ""
    elif found := _ENGLISH_MONTH.fullmatch(text):
        month = MONTHS[(found["b"] or found["c"]).lower()]
        edge = {"end": "end", "start": "start", "beginning": "start"}.get((found["e"] or "").lower(), "")
        span = months(int(found["y"] or found["z"]), month, month)
    elif period := period_of(text, context):
        span, edge = period[:2], period[2]
    else:
        raise Unread(f"{text[:60]}: no date")
    if not context.edge:
        raise Undecided(f"from {span[0]} to {span[1]}: the day is not written")
    return (span[0] if (edge or context.edge) == "start" else span[1]), None


def moment(day: date, clock: time | None) -> str:
    """ISO text with a space between day and time."""
    return datetime.combine(day, clock or time()).isoformat(sep=" ")
