"""months and quarters that the question names → the days and numbers that bound them in a query."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENGLISH = re.compile(
    r"(?i)\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_CHINESE = re.compile(r"(?<![\d一二三四五六七八九十])(1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月")
_QUARTER = re.compile(
    r"(?i)\bq([1-4])\b|\b(first|second|third|fourth|last|1st|2nd|3rd|4th) quarters?\b|第?([一二三四1-4])季度?|([1-4])Q\b"
)
_HAN = {sign: number for number, sign in enumerate("一二三四五六七八九十", start=1)} | {"十一": 11, "十二": 12}
_ORDER = {word: number for number, word in enumerate(("first", "second", "third", "fourth"), start=1)} | {"last": 4}


def periods(question: str) -> set[tuple[int, int]]:
    """First and last month, 1 to 12, of each month and quarter that the text names."""
    months = {_NAMES.index(found[:3].casefold()) + 1 for found in _ENGLISH.findall(question)}
    months |= {_number(found) for found in _CHINESE.findall(question)}
    quarters = {_number(next(part for part in found if part)) for found in _QUARTER.findall(question)}
    return {(month, month) for month in months} | {(3 * quarter - 2, 3 * quarter) for quarter in quarters}


def bounds(text: str, named: set[tuple[int, int]]) -> int | None:
    """The year in which a day or month, written with the year first, begins or ends a named period, or is the day after one."""
    found = re.match(r"(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?(?!\d)", text)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[2]), found[3]
    if day is None:
        return year if any(first <= month <= last for first, last in named) else None
    for first, last in named:
        for own in (year, year - 1):
            end = date(own, last, monthrange(own, last)[1]) if own > 0 else date.min
            after = end + timedelta(days=1) if end < date.max else end
            if (year, month, int(day)) in [(own, first, 1), _parts(end), _parts(after)]:
                return own
    return None


def _parts(day: date) -> tuple[int, int, int]:
    return day.year, day.month, day.day


def _number(text: str) -> int:
    lowered = text.casefold()
    if lowered in _ORDER:
        return _ORDER[lowered]
    return int(re.sub(r"\D", "", text)) if re.search(r"\d", text) else _HAN[text]
