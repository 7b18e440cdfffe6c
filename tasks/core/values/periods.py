"""A span of calendar time (2021Q3, 上半年, FY2021, 2018年3月) → first and last day."""

from __future__ import annotations

import calendar
import re
from datetime import date

from tasks.core.values.context import Context, Undecided, Unread

_ORDINALS = {"一": 1, "二": 2, "三": 3, "四": 4, "1": 1, "2": 2, "3": 3, "4": 4, "first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2,
             "3rd": 3, "4th": 4}  # fmt: skip
_YEAR = r"(?P<y>\d{4}|\d{2})"
_QUARTERS = (
    rf"(?:{_YEAR}年?)?第?(?P<q>[一二三四1-4])季(?:度|报)?(?P<e>末|底|初)?",
    rf"{_YEAR}[-/ ]?年?Q(?P<q>[1-4])",
    rf"Q(?P<q>[1-4])[-/, ]*(?:of |in )?{_YEAR}",
    rf"(?P<q>[1-4])Q[-/ ]?{_YEAR}",
    rf"(?:the )?(?P<q>first|second|third|fourth|1st|2nd|3rd|4th) quarter(?:,? (?:of |in )?{_YEAR})?",
    r"Q(?P<q>[1-4])",
)
_HALVES = (
    rf"(?:{_YEAR}年?)?(?P<h>上|下)半年",
    rf"H(?P<h>[12])[-/, ]*(?:of )?{_YEAR}",
    rf"{_YEAR}[-/ ]?H(?P<h>[12])",
    rf"(?:the )?(?P<h>first|second) half(?:,? (?:of |in )?{_YEAR})?",
)
_FISCAL = (
    r"(?:Q(?P<q>[1-4])[ ,]*)?FY ?(?P<y>\d{4})(?:/\d{2,4})?(?:[ ,]*Q(?P<r>[1-4]))?",
    r"(?:fiscal|financial) (?:year )?(?P<y>\d{4})",
    r"(?P<y>\d{4})财年(?:第?(?P<q>[一二三四1-4])季度?)?",
)
_YEARS = (
    r"(?P<y>\d{4})(?:年度?|年全年)?(?P<e>末|底|初)?",
    r"(?:the )?(?:calendar )?year (?P<y>\d{4})",
    r"(?P<e>end|start|beginning) of (?P<y>\d{4})",
    r"year[- ](?P<e>end) (?P<y>\d{4})",
)


def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.I) for pattern in patterns)


_QUARTER, _HALF, _FY, _PLAIN = map(_compiled, (_QUARTERS, _HALVES, _FISCAL, _YEARS))


def months(year: int, first: int, last: int) -> tuple[date, date]:
    """First day of the first month and last day of the last; ValueError outside of the calendar."""
    return date(year, first, 1), date(year, last, calendar.monthrange(year, last)[1])


def period_of(text: str, context: Context) -> tuple[date, date, str] | None:
    """First and last day and the edge that the text itself names (`start`, `end` or empty); None for another text."""
    for patterns, reader in ((_QUARTER, _quarter), (_HALF, _half), (_FY, _fiscal), (_PLAIN, _year)):
        for pattern in patterns:
            if found := pattern.fullmatch(text):
                first, last = reader(found.groupdict(), context)
                return (
                    first,
                    last,
                    {"末": "end", "底": "end", "end": "end", "初": "start", "start": "start", "beginning": "start"}.get(
                        (found.groupdict().get("e") or "").lower(), ""
                    ),
                )
    return None


def full_year(digits: str | None, context: Context) -> int:
    """A year from its digits; two digits need the context's pivot, none the default year."""
    if not digits:
        if context.default_year is None:
            raise Undecided("no year written")
        return context.default_year
    if len(digits) > 2:
        return int(digits)
    if context.pivot is None:
        raise Undecided(f"year {digits}: century not decided")
    return int(digits) + (2000 if int(digits) <= context.pivot else 1900)


def _quarter(parts: dict[str, str | None], context: Context) -> tuple[date, date]:
    number = _ORDINALS[(parts["q"] or "").lower()]
    return months(full_year(parts.get("y"), context), 3 * number - 2, 3 * number)


def _half(parts: dict[str, str | None], context: Context) -> tuple[date, date]:
    first = (parts["h"] or "").lower() in ("上", "1", "first")
    return months(full_year(parts.get("y"), context), *((1, 6) if first else (7, 12)))


def _fiscal(parts: dict[str, str | None], context: Context) -> tuple[date, date]:
    start = context.fiscal_start
    if start is None:
        raise Undecided("start of the fiscal year is not known")
    quarter = parts.get("q") or parts.get("r")
    first = (int(parts["y"] or 0) - (start > 1)) * 12 + start - 1 + (3 * _ORDINALS[quarter] - 3 if quarter else 0)
    last = first + (2 if quarter else 11)
    return date(first // 12, first % 12 + 1, 1), months(last // 12, last % 12 + 1, last % 12 + 1)[1]


def _year(parts: dict[str, str | None], _context: Context) -> tuple[date, date]:
    year = int(parts["y"] or 0)
    if not 1000 <= year <= 2999:
        raise Unread(f"{year}: not a year")
    return months(year, 1, 12)
