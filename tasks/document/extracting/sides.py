"""A value's place in its line + its column → doubt where the words beside it name the opposite of what the column holds.

Columns that differ by one word (before and after, admission and discharge, first and second quarter) are swapped most
easily. Only the words between the numbers and pauses around the value count, and only where they name one side.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tasks.core.models.document import ColumnType
from tasks.document.records.names import narrow


class _Side(NamedTuple):
    name: str
    words: re.Pattern[str]


def _sides(**words: str) -> tuple[_Side, ...]:
    return tuple(_Side(name.replace("_", " "), re.compile(found, re.IGNORECASE)) for name, found in words.items())


_QUARTER = r"(?:\b(?:q{n}|{en}\s+quarter)\b|(?:第?{zh}|{n})季度?|{zh}季)"
_GROUPS = (
    _sides(
        before=r"\bbefore\b|\bprior to\b|[让易动购售并买卖资]之?前|此前|期初|年初|月初|原先|原有",
        after=r"\bafter(?:wards)?\b|[让易动购售并买卖资]之?后|此后|期末|年末|年底|月末|现拥有|现持有|余下|剩余",
    ),
    _sides(
        start=r"\b(?:start|beginning|opening)\b|期初|年初|月初",
        end=r"\b(?:end|closing|finish)\b|期末|年末|年底|月末",
    ),
    _sides(admission=r"\badmi(?:ssion|tted)\b|\bon arrival\b|入院", discharge=r"\bdischarged?\b|出院"),
    _sides(
        departure=r"\b(?:depart\w*|sail(?:ed|ing|s)?|loaded|loading)\b|起运|离港|启运|出发|装货|装船",
        arrival=r"\b(?:arriv\w*|unload\w*|discharg\w*|bound for)\b|到港|抵达|到达|抵港|卸货|卸船",
    ),
    _sides(
        this_one=r"\b(?:this|current) (?:year|month|quarter)\b|本[月年期季]|本学年",
        the_last_one=r"\b(?:last|previous|prior) (?:year|month|quarter)\b|上[月年期季]|上一?学年|去年",
    ),
    _sides(lowest=r"\b(?:lowest|minimum)\b|最低|最小", highest=r"\b(?:highest|maximum)\b|最高|最大"),
    _sides(plan=r"\bplan(?:ned|s)?\b|计划", actual=r"\bactual(?:ly)?\b|实际|实招"),
    _sides(subscription=r"\bsubscri\w+\b|申购", redemption=r"\bredem\w+\b|\bredeem\w+\b|赎回"),
    _sides(
        first=_QUARTER.format(n=1, en="first", zh="一"),
        second=_QUARTER.format(n=2, en="second", zh="二"),
        third=_QUARTER.format(n=3, en="third", zh="三"),
        fourth=_QUARTER.format(n=4, en="(?:fourth|final)", zh="四"),
    ),
)
"""Words that name one of several things that a column holds one of."""
_PART = re.compile(
    r"[,;:，；：、。！？!?|\n]|\.(?=\s|$)|\s(?:and|but|while|against|from|to)\s|(?<![A-Za-z])\d+(?:[.,]\d+)*"
)
"""Parts one value's words from another's."""
_REACH = 60
"""Characters on either side that are looked at."""


def opposite(line: str, start: int, end: int, kind: ColumnType, meaning: str) -> str:
    """Why the value is hardly one of a column of that meaning; empty where the words beside it leave that open."""
    beside = ""
    for sides in _GROUPS:
        if sides[0].name == "before" and kind not in ("integer", "number"):
            continue
        wanted = [side.name for side in sides if side.words.search(meaning)]
        if len(wanted) != 1:
            continue
        beside = beside or _beside(narrow(line), start, end)
        said = [side.name for side in sides if side.words.search(beside)]
        if len(said) == 1 and said != wanted:
            return f"the words beside it say {said[0]}, where the column is about {wanted[0]}"
    return ""


def _beside(line: str, start: int, end: int) -> str:
    """The words before and behind the value, up to the next number or pause."""
    low = max(0, start - _REACH)
    first = max((found.end() for found in _PART.finditer(line, low, start)), default=low)
    behind = _PART.search(line, end, end + _REACH)
    return f"{line[first:start]} … {line[end : behind.start() if behind else end + _REACH]}"
