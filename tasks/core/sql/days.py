"""Masks of a text column's values → how its days are written, and the SQL that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tasks.core.models.catalogue import Form
from tasks.core.sql.names import literal
from tasks.core.sql.numerals import Mask

_TIME = r"(?P<time>[ T]d{1,2}:dd(?P<seconds>:dd)?(?P<part> ?[AaPp][Mm])?)?"
_NUMBERED = re.compile(rf"d{{1,2}}(?P<sign>[/.-] ?)d{{1,2}}(?P=sign)(?P<year>dddd|dd){_TIME}")
_YEAR_FIRST = re.compile(rf"dddd(?P<sign>[/.-])d{{1,2}}(?P=sign)d{{1,2}}{_TIME}")
_SORTABLE = re.compile(r"dddd([/.-])dd\1dd(?![d:]* ?[AP])(?! d:)")
_CHINESE = re.compile(r"dddd年d{1,2}月d{1,2}日")
_DAY_WORD = re.compile(r"d{1,2}(?P<dot>\.?)(?P<sign>[ -])(?P<month>[A-Za-z]{3,9})(?P=sign)(?P<year>dddd|dd)")
_WORD_DAY = re.compile(r"(?P<month>[A-Za-z]{3,9})(?P<dot>\.?) d{1,2}(?P<comma>,?) dddd")
LARGEST_MONTH = 12


def days(masks: Sequence[Mask], values: int) -> Form | None:
    """The column's date format; None when fewer than half of the values look like days. `read` is the number of these."""
    numbered = [mask for mask in masks if _NUMBERED.fullmatch(mask.text)]
    day_first, month_first = (sum(counts) for counts in ([m.first for m in numbered], [m.second for m in numbered]))
    order = "%m{sign}%d" if month_first and not day_first else "%d{sign}%m"
    formats = {mask.text: text for mask in masks if (text := _format(mask.text, order))}
    found = [mask for mask in masks if mask.text in formats]
    read = sum(mask.count for mask in found)
    if not values or read * 2 < values:
        return None
    timed = any("%H" in text or "%I" in text for text in formats.values())
    made = Form(
        kind="moment" if timed else "day",
        says=_says(found, numbered, day_first, month_first).format(values=values),
        sql=_sql(formats.values(), timed),
        values=values,
        read=read,
        example=(numbered or found)[0].example,
        sortable=len(masks) == 1 and bool(_SORTABLE.match(masks[0].text)),
    )
    if not numbered or bool(day_first) != bool(month_first):
        return made
    if day_first:
        return made.model_copy(
            update={"sql": "", "decided": False, "reading": "the days of the others cannot be known"}
        )
    other = {mask.text: _format(mask.text, "%m{sign}%d") for mask in found}
    example = numbered[0].example
    reading = f"{example!r} is read with the day first; were it the month, write in knowledge.md: `{{column}} has the month first`"
    return made.model_copy(update={"decided": False, "reading": reading, "otherwise": _sql(other.values(), timed)})


def _says(found: Sequence[Mask], numbered: Sequence[Mask], day_first: int, month_first: int) -> str:
    if day_first and month_first:
        return "dates, some with the day first and some with the month first"
    kinds = {re.sub("d+", "d", mask.text.partition(" ")[0]) for mask in numbered}
    if len(kinds) > 1 or 0 < len(numbered) < len(found):
        return "dates in more than one form"
    if numbered and not (day_first or month_first):
        return "dates whose order of day and month the file does not decide"
    if numbered:
        return f"dates, {'month' if month_first else 'day'} first as {day_first or month_first:,} of {{values:,}} values show"
    if any(re.search("[A-Za-z]", re.sub("[dT]", "", mask.text)) for mask in found):
        return "dates in words"
    return "dates, year first"


def _format(mask: str, order: str) -> str:
    """What strptime needs for a mask; empty when it is no day."""
    if found := _NUMBERED.fullmatch(mask):
        year = "%Y" if found["year"] == "dddd" else "%y"
        return f"{order.format(sign=found['sign'])}{found['sign']}{year}{_clock(found)}"
    if found := _YEAR_FIRST.fullmatch(mask):
        return f"%Y{found['sign']}%m{found['sign']}%d{_clock(found)}"
    if _CHINESE.fullmatch(mask):
        return "%Y年%m月%d日"
    if found := _DAY_WORD.fullmatch(mask):
        sign, year = found["sign"], "%Y" if found["year"] == "dddd" else "%y"
        return f"%d{found['dot']}{sign}{_month(found['month'])}{sign}{year}"
    if found := _WORD_DAY.fullmatch(mask):
        return f"{_month(found['month'])}{found['dot']} %d{found['comma']} %Y"
    return ""


def _clock(found: re.Match[str]) -> str:
    if not found["time"]:
        return ""
    hour, part = ("%I", found["part"].replace(found["part"].strip(), "%p")) if found["part"] else ("%H", "")
    return f"{found['time'][0]}{hour}:%M{':%S' if found['seconds'] else ''}{part}"


def _month(name: str) -> str:
    return "%b" if len(name) == 3 else "%B"


def _sql(formats: Iterable[str], timed: bool) -> str:
    # two digits first: %Y takes 19 for the year 19, while %y refuses 2019
    distinct = sorted(dict.fromkeys(formats), key=lambda text: "%y" not in text)
    text = literal(distinct[0]) if len(distinct) == 1 else f"[{', '.join(map(literal, distinct))}]"
    read = f"try_strptime(trim({{x}}), {text})"
    return read if timed else f"CAST({read} AS DATE)"
