"""A number's place in a line + its column's type → the whole phrase that it is a part of, so that no part is believed.

What is copied may be a part: 5 of `5 to 6 million`, 1 of 1/3, 12 of `12 dozen`. What stands right beside it and changes
its value belongs to what is kept as written; what it means there is for `core/values` to say.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from tasks.core.models.document import ColumnType
from tasks.core.values.chinese import LETTERS
from tasks.core.values.dates import MONTH
from tasks.core.values.english import LARGE, ONES, PARTS, TENS
from tasks.document.records.names import narrow

_NUMBERS: tuple[ColumnType, ...] = ("integer", "number", "duration")
_REST = re.compile(r"[0-9]+(?:[.][0-9]+)?[千百十]?[万萬]?")
"""What goes on behind 3亿 in 3亿2000万."""
_UNIT = re.compile(
    r"\s*(?:[%‰‱]|(?:几|多|[余餘](?![额額款下数數地]))[千百十]?[万萬亿億]?|[千百十]?[万萬亿億兆](?:[亿億])?(?!一|分)|(?:per\s?cent|percent|per\s?mille|basis points|bps?|pp)\b"
    r"|(?:thousand|million|billion|trillion|mn|bn|tn|k|m|b)\b)",
    re.IGNORECASE,
)
"""What changes a number's value and stands right behind it: never left out of what is kept as written."""
_DIGITS = r"[0-9]+(?:[.,][0-9]+)*"
_SIZE = r"(?:[\s-]*(?:hundred|thousand|lakh|million|crore|billion|trillion|dozen|score|mn|bn|tn|[km])\b|\s*[百千万萬亿億兆]+)"
_ONE = rf"(?:{_DIGITS}|[{LETTERS}]+)"
_SPELLED = "|".join(sorted([*ONES, *TENS, *LARGE, "hundred", "dozen", "half"], key=len, reverse=True))
_DIVIDED = "|".join(sorted([name for name in PARTS if name != "half"], key=len, reverse=True))
_ON = re.compile(
    rf"(?P<size>{_SIZE}+)"
    rf"|(?P<power>\s?(?:e[+-]?[0-9]{{1,3}}|[*×x]\s?10\s?(?:\^|\*\*)\s?[+-]?[0-9]{{1,3}}|[*×x]\s?10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))(?![0-9])"
    rf"|(?P<range>(?:\s?[~至到–]\s?|[—-](?![0-9]+[-/][0-9])){_ONE}|\s+(?:to|or)\s+(?=[0-9]|(?:{_SPELLED})\b)(?:{_DIGITS})?|或{_ONE})"
    rf"|(?P<slash>\s?[/⁄∕]\s?[0-9]+(?![0-9]*[/⁄-][0-9])|\s[0-9]+[/⁄][0-9]+(?![/0-9])|\s?[½⅓⅔¼¾⅕⅛])"
    rf"|(?P<times>\s?[×x*]\s?{_DIGITS})"
    rf"|(?P<part>分之[{LETTERS}0-9.点]+|成[半{LETTERS}]?(?![{LETTERS}]*[为立员本功交品果长分])|折(?![扣价合算旧])|个半|[\s-]+(?:{_DIVIDED})s?\b|\s+and\s+a\s+half\b)"
    rf"|(?P<half>\s+an?\s+(?:hundred|thousand|million|billion|dozen)\b)"
    rf"|(?P<and>\s+and\s+{_DIGITS}|[和与]{_ONE})"
    rf"|(?P<word>(?:[\s-]+(?:and[\s-]+)?)(?:{_SPELLED})\b)",
    re.IGNORECASE,
)
_BACK = re.compile(
    rf"(?:(?P<range>(?<![0-9.,:/\-])(?P<first>{_DIGITS}|(?<![{LETTERS}])[{LETTERS}]+){_SIZE}*\s?(?:[^\s\d\u4e00-\u9fff]|[%‰])?"
    rf"(?:[~至到–]\s?|(?<=\S)[—-]|\s+(?:to|or)\s+|或)[$€£¥]?)"
    rf"|(?P<between>\bbetween\s+{_DIGITS}{_SIZE}*\s+and\s+|介于{_ONE}[和与至到])"
    rf"|(?P<slash>(?<![0-9/.,-])(?:[0-9]+\s)?[0-9]+\s?[/⁄∕]\s?)"
    rf"|(?P<times>{_DIGITS}\s?[×x*]\s?)"
    rf"|(?P<part>[{LETTERS}0-9]+分之|[百千万]分之)"
    rf"|(?P<word>\b(?:{_SPELLED})[\s-]+|\b(?:hundred|thousand|million)\s+and\s+)"
    rf"|(?P<half>\bhalf\s+(?:an?\s+)?)"
    rf"|(?P<minus>\b(?:minus|negative)\s+|负|零下))$",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"(?:\bfrom|\b(?:rose|fell|grew|went|moved|changed|increased|decreased|dropped|declined)|[从由自]|增至|降至)\s*$",
    re.I,
)
"""Before two numbers that are no range but a change."""
_HUNDREDS = re.compile(r"(?:hundred|thousand|million)$", re.IGNORECASE)
"""What `and` may go on behind: two hundred and five."""
_BETWEEN = re.compile(r"(?:\bbetween\s+|介于)$", re.IGNORECASE)
_STATED = re.compile(r"(?:^|[|:：=]|\b(?:was|were|is|are|of|at|to|by)|[为是达至到])\s*[$€£¥]?\s*$", re.IGNORECASE)
"""Before a bracket whose number is the value itself, not an aside."""
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_BACK_CHARS, _TURNS = 48, 4
_EXPLAINED = re.compile(
    rf"(?:(?<![A-Za-z0-9]){_DIGITS}|\b(?:{_SPELLED})\b|[{LETTERS}])(?![{LETTERS}0-9至到]*\s?[月季年日号])",
    re.IGNORECASE,
)
"""A number that brackets behind it may explain; of a date none does."""
_DATE = re.compile(
    r"(?<![0-9])[0-9]{4}\s?[-/.]\s?[0-9]{1,2}\s?[-/.]\s?[0-9]{1,2}(?![0-9])"
    r"|(?<![0-9])(?:(?:民国)?\s?[0-9]{2,4}\s?年\s?)?[0-9]{1,2}\s?月\s?[0-9]{1,2}\s?[日号]?"
    r"|(?<![0-9])[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}(?![0-9])"
    rf"|(?<![0-9])(?:[0-9]{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{MONTH})\b\.?|\b(?:{MONTH})\.?\s+[0-9]{{1,2}}(?:st|nd|rd|th)?\b)(?:,?\s+(?:of\s+)?[0-9]{{4}})?",
    re.IGNORECASE,
)


def whole(line: str, start: int, end: int, kind: ColumnType) -> tuple[int, int, str]:
    """Start and end of the phrase, and what makes even the phrase doubtful (empty for nothing)."""
    text = narrow(line)
    if kind in ("date", "datetime"):
        return (*_date(text, start, end), "")
    start, end = _near(text, start, end)
    if kind not in _NUMBERS or not _is_number(text, start, end):
        return start, end, ""
    doubt = ""
    for _ in range(_TURNS):
        first, last, said = _step(text, start, end)
        doubt = doubt or said
        if (first, last) == (start, end):
            break
        start, end = first, last
    first, last = _bracket(text, start, end)
    return first, last, doubt


def within(line: str, start: int, end: int) -> bool:
    """Whether words of number go on beside the span: one of forty-one is another number, 5 of 5 million is not."""
    text = narrow(line)
    if not text[start:end].isascii() or not text[start].isalpha() or not _is_number(text, start, end):
        return False
    back, on = _BACK.search(text, max(0, start - _BACK_CHARS), start), _ON.match(text, end)
    words = text[end - 1].isalpha() and on and on.lastgroup == "word"
    joined = words and (" and " not in on[0] or _HUNDREDS.search(text, start, end)) if on else False
    return bool(joined or (back and back.lastgroup == "word"))


def _near(text: str, start: int, end: int) -> tuple[int, int]:
    """With percent sign, size and minus sign, in a column of any type."""
    if text[end - 1] in "万萬亿億" and (rest := _REST.match(text, end)):
        end = rest.end()
    if text[end - 1].isnumeric() and (unit := _UNIT.match(text, end)):
        end = unit.end()
    before = text[start - 2 : start - 1] if start > 1 else ""
    if text[start].isdigit() and start and text[start - 1] in "-−" and not (before.isascii() and before.isalnum()):
        start -= 1
    return start, end


def _is_number(text: str, start: int, end: int) -> bool:
    part = text[start:end]
    return any(char.isdigit() or char in LETTERS for char in part) or bool(
        re.match(rf"(?:an?\s+)?(?:{_SPELLED})\b", part, re.I)
    )


def _step(text: str, start: int, end: int) -> tuple[int, int, str]:
    """One piece more on either side."""
    doubt, low = "", max(0, start - _BACK_CHARS)
    on = _ON.match(text, end)
    if on and on.lastgroup in ("range", "times", "slash") and _YEAR.fullmatch(text, start, end):
        on = None
    if on and on.lastgroup == "range" and _CHANGE.search(text, low, start):
        later = re.match(rf"{_DIGITS}|(?:{_SPELLED})\b", text[on.end() :])
        size = re.compile(_SIZE, re.I).match(text, on.end() + (later.end() if later else 0))
        own = re.search(_SIZE, text[start:end], re.I)
        doubt = "a size may be left out: it stands behind the other number" if size and not own else ""
        on = None
    if on and on.lastgroup == "half" and text[start:end].lower() != "half":
        on = None
    if on and on.lastgroup == "and":
        between = _BETWEEN.search(text, low, start)
        return (between.start(), on.end(), doubt) if between else (start, end, doubt)
    if on and on.lastgroup == "word" and " and " in on[0] and not _HUNDREDS.search(text[start:end]):
        on = None
    if "/" in text[start:end] and (more := re.compile(r"(?<![0-9/.,-])[0-9]+\s$").search(text, low, start)):
        return more.start(), end, doubt
    back = _BACK.search(text, low, start)
    if back and back.lastgroup in ("first", "range"):
        first = back.start("range") if back["range"] else start
        is_year = bool(_YEAR.fullmatch(back["first"] or ""))
        back = None if is_year or _CHANGE.search(text, max(0, first - _BACK_CHARS), first) else back
    return (back.start() if back else start), (on.end() if on else end), doubt


def _bracket(text: str, start: int, end: int) -> tuple[int, int]:
    """(9) where the bracket is the value, as in accounts, and no aside."""
    if (
        text[start - 1 : start] == "("
        and text[end : end + 1] == ")"
        and _STATED.search(text, max(0, start - 1 - _BACK_CHARS), start - 1)
    ):
        size = re.compile(rf"\)(?:{_SIZE})?", re.I).match(text, end)
        return start - 1, size.end() if size else end + 1
    return start, end


def bracketed(line: str, start: int, end: int) -> bool:
    """Whether the number stands alone in brackets, and no number before them that it may explain."""
    text = narrow(line)
    if text[start - 1 : start] != "(" or text[end : end + 1] != ")" or text[start] in "-+":
        return False
    before = re.split(r"[,;:|。；，：、\n]|\.(?=\s|$)|\)\s*\(", text[: start - 1])[-1]
    return not _EXPLAINED.search(before)


def _date(text: str, start: int, end: int) -> tuple[int, int]:
    """The date that the span is a part of, a day and month of a date with its year."""
    dates = _dates(text)
    at = bisect_right(dates, (start, len(text))) - 1
    return dates[at] if at >= 0 and end <= dates[at][1] else (start, end)


@lru_cache(maxsize=256)
def _dates(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _DATE.finditer(text)]
