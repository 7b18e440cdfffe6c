"""A column, all its raw texts, the knowledge's rules → the conventions by which the raw texts are read.

Rules come before what the raw texts show; what neither decides stays open, and the library then refuses to guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tasks.core.models.document import PlanColumn
from tasks.core.values.clean import clean
from tasks.core.values.dates import MONTH, MONTHS
from tasks.core.values.door import Context, read_value
from tasks.document.normalising.ranges import span_of
from tasks.document.normalising.stated import stated_words

_SLASHED = re.compile(r"(?<!\d)(\d{1,2})[/.\-](\d{1,2})[/.\-](\d{4}|\d{2})(?!\d)")
_ORDERS = (
    ("DMY", r"\bd{1,2}[/.\-]m{1,2}[/.\-]y{2,4}\b|day (?:comes )?first|day before (?:the )?month|日在前|日/月/年"),
    ("MDY", r"\bm{1,2}[/.\-]d{1,2}[/.\-]y{2,4}\b|month (?:comes )?first|month before (?:the )?day|月在前|月/日/年"),
)
_TWO_DIGITS = re.compile(
    r"(?:two[- ]digit years?|years? (?:written )?(?:with|of|in) two digits|(?:两|二|2)\s*位(?:数)?(?:的)?年份)"
    r"[^.。;；\n]{0,40}?(20|19)\s*(?:xx|yy|\*\*|××|__|00)",
    re.IGNORECASE,
)
_PIVOT = re.compile(r"(?i)\b00\s*[-–~至到]+\s*(\d\d)[^.。;；\n]{0,30}20(?:xx|yy|00)")
_DEFAULT_YEAR = re.compile(
    r"(?:(?:without (?:a|the)? ?|no |omit(?:s|ted)? (?:the )?)year[^.。;；\n]{0,40}?"
    r"|(?:未(?:写|注|标)明?|没有|省略|不带|缺)(?:了)?年份[^。;；\n]{0,20}?)(?<!\d)((?:19|20)\d\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"(?<!\d)((?:19|20)\d\d)\s*(?:[年/.\-]|$)|(?:\b[A-Za-z]{3,9}\.?\s+\d{1,2},?\s+|[A-Za-z]{3,9}\s+)((?:19|20)\d\d)\b"
)
_FULL_YEAR = re.compile(r"(?<!\d)((?:18|19|20)\d\d)(?=年|\W|$)")
_MARGIN = 5
"""Years by which a two-digit year may lie after the column's latest full year."""
_PART = r"(?:the |its |each |a |that )?(?:calendar |fiscal |reporting )?(?:month|quarter|half|year|period)"
_EDGES = (
    ("end", rf"last day of {_PART}|period end|(?:month|quarter|year)[- ]end|end of {_PART}"
            r"|[月季年期]度?的?(?:最后一[天日]|末日)|(?:月|季|年|期)末"),
    ("start", rf"first day of {_PART}|(?:start|beginning) of {_PART}|[月季年期]度?的?(?:第一[天日]|首日)|(?:月|季|年|期)初"),
)  # fmt: skip
_FISCAL = re.compile(
    rf"(?:fiscal|financial) years?[^.。;；\n]{{0,40}}?(?:starts?|begins?|runs? from)[^.。;；\n]{{0,12}}?\b({MONTH})\b"
    r"|(?:财年|财政年度|会计年度)[^。;；\n]{0,12}?(?:从|自|始于|起于|每年)\s*(\d{1,2})\s*月",
    re.IGNORECASE,
)
_HEAD_UNIT = re.compile(
    r"(?:单位|unit)s?\s*[:：]\s*([^\s,，;；。)）\]】]+)|[(（\[【]\s*(?:in\s+)?([^()（）\[\]【】]{1,16}?)\s*[)）\]】]",
    re.IGNORECASE,
)
_BARE_UNIT = re.compile(
    r"(?:(?:bare|plain) numbers?|(?:numbers?|values?|figures?) (?:without|with no) (?:a |any )?(?:unit|sign)s?)[^.;\n]{0,20}?(?:are|is|mean|stand for)\s+(?:in\s+)?([\w%‰ ]{1,20}?)(?=[.,;\n]|$)"
    r"|(?:不带|没有|无|未写|未注明|省略)单位的?(?:数字?|数值|金额)?[^。;；\n]{0,6}?(?:单位)?(?:为|是|均为|指)\s*([^\s,，;；。]{1,8})",
    re.IGNORECASE,
)
_DOLLARS = re.compile(r"\b(USD|HKD|CAD|AUD|SGD|NZD|TWD)\b|(US|HK|NT|[ACS])\$|(美元|港元|港币|加元|澳元|新台币)")
_DOLLAR_NAMES = {"US": "USD", "HK": "HKD", "NT": "TWD", "A": "AUD", "C": "CAD", "S": "SGD",
                 "美元": "USD", "港元": "HKD", "港币": "HKD", "加元": "CAD", "澳元": "AUD", "新台币": "TWD"}  # fmt: skip
_SIGNED = re.compile(
    r"变动|变化|增减|同比|环比|涨跌|增长|增幅|收益率|回报|盈亏|净利|负值|可为负|可正可负|year[- ]on[- ]year"
    r"|\b(?:returns?|growth|changes?|gains? or loss(?:es)?|increases? or decreases?|profits?|yields?|(?:may|can) be negative)\b",
    re.IGNORECASE,
)
_UNSIGNED = re.compile(
    r"降幅|跌幅|回撤|减少额|positive number|as a positive|draw-?down|\b(?:decline|decrease|drop|loss)\b|正数",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"\b(?:gains?|profits?|increases?|rises?)(?: or | and |/| & )(?:loss(?:es)?|decreases?|falls?|declines?)\b", re.I
)
_FALL_RULE = re.compile(r"下[跌降滑]|减少|fell|fall|down|declin|decreas", re.IGNORECASE)
_NEGATIVE = re.compile(r"负|negative|minus", re.IGNORECASE)
_COMMA, _POINT = (
    re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?![\d.,])"),
    re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+\.\d+|\d+\.(?:\d{1,2}|\d{4,}))(?![\d.,])"),
)
_MOST = 3
_PROBE = 7


def infer(column: PlanColumn, raws: Sequence[str], rules: str) -> Context:
    """The conventions of a column; `rules` are the knowledge's sentences about it and about values at large."""
    told = f"{column.task_meaning}\n{column.doc_meaning}\n{rules}"
    zero, null = stated_words("\n".join(dict.fromkeys((rules, column.task_meaning, column.doc_meaning))))
    return Context(
        decimal="," if _comma(raws, rules) else ".",
        default_year=_default_year(raws, rules),
        date_order=_date_order(raws, told),  # type: ignore[arg-type]
        pivot=_pivot(raws, rules) if column.type in ("date", "datetime") else None,
        edge=_first(_EDGES, column.task_meaning),  # type: ignore[arg-type]
        fiscal_start=_fiscal_start(told),
        bare_unit=_bare_unit(column, rules),
        dollar=_dollar(column.unit),
        fall_is_negative=_fall_is_negative(column, rules),
        fall_is_positive=bool(_UNSIGNED.search(_meaning(column))),
        span=span_of(column, rules),
        zero_words=_with_article(zero),
        null_words=_with_article(null),
        about=_about(column),
    )


def _about(column: PlanColumn) -> str:
    """Meaning and name; only numbers can be denied to be."""
    if column.type not in ("integer", "number"):
        return ""
    return " ".join(dict.fromkeys((column.doc_meaning, column.task_meaning, column.name.replace("_", " "))))


def _comma(raws: Sequence[str], rules: str) -> bool:
    if re.search(r"(?i)decimal comma|comma (?:is|as) (?:the |a )?decimal|逗号(?:为|作|表示)小数", rules):
        return True
    return any(map(_COMMA.search, raws)) and not any(map(_POINT.search, raws))


def _date_order(raws: Sequence[str], told: str) -> str:
    """What a rule says; else what dates show whose day is above 12, where all of them show the same."""
    if stated := _first(_ORDERS, told):
        return stated
    pairs = [(int(m[1]), int(m[2])) for raw in raws for m in _SLASHED.finditer(raw)]
    shown = {"DMY" if a > 12 else "MDY" for a, b in pairs if (a > 12) != (b > 12)}
    return shown.pop() if len(shown) == 1 else ""


def _pivot(raws: Sequence[str], rules: str) -> int | None:
    """What a rule says (99 where all two-digit years are 20xx, -1 where all are 19xx); else what full years show.

    A two-digit year then lies at most five years after the column's latest full year.
    """
    if match := _PIVOT.search(rules):
        return int(match[1])
    if match := _TWO_DIGITS.search(rules):
        return 99 if match[1] == "20" else -1
    years = [int(year) for raw in raws for year in _FULL_YEAR.findall(clean(raw))]
    if not years or max(years) < 2000 or max(years) - min(years) >= 100 - 2 * _MARGIN:
        return None
    return min(max(years) - 2000 + _MARGIN, 99)


def _default_year(raws: Sequence[str], rules: str) -> int | None:
    """What a rule says; else the one year that all dated texts share, where there are several."""
    if match := _DEFAULT_YEAR.search(rules):
        return int(match[1])
    years = [int(m[1] or m[2]) for raw in raws if (m := _YEAR.search(raw))]
    return years[0] if len(years) >= _MOST and len(set(years)) == 1 else None


def _fiscal_start(told: str) -> int | None:
    match = _FISCAL.search(told)
    if not match:
        return None
    month = MONTHS[match[1].lower()] if match[1] else int(match[2])
    return month if 1 <= month <= 12 else None


def _bare_unit(column: PlanColumn, rules: str) -> str:
    """The unit in the document's own head of the column, as in 数量（万股）, or what a rule says of bare numbers.

    What stands in brackets is a unit only where a number with it can be read in the column's unit.
    """
    if column.type not in ("integer", "number"):
        return ""
    found = [*_HEAD_UNIT.finditer(column.doc_meaning), *_BARE_UNIT.finditer(rules)]
    units = [(match[1] or match[2]).strip() for match in found]
    return next((u for u in units if read_value(f"{_PROBE} {u}", "number", column.unit).value is not None), "")


def _dollar(unit: str) -> str:
    match = _DOLLARS.search(unit)
    return _DOLLAR_NAMES.get(match[2] or match[3] or "", match[1] or "USD") if match else "USD"


def _fall_is_negative(column: PlanColumn, rules: str) -> bool:
    """Whether the column holds signed changes, or a rule about falls calls them negative."""
    meaning = _meaning(column)
    if _UNSIGNED.search(meaning):
        return False
    stated = any(_FALL_RULE.search(line) and _NEGATIVE.search(line) for line in re.split(r"[\n。；;]", rules))
    return stated or bool(_SIGNED.search(meaning))


def _meaning(column: PlanColumn) -> str:
    """Meanings and name, in which `gains or losses` is one word for a signed amount."""
    return _BOTH.sub("change", f"{column.task_meaning}\n{column.doc_meaning}\n{column.name.replace('_', ' ')}")


def _with_article(words: Iterable[str]) -> tuple[str, ...]:
    """As the library compares them: lower case, English ones also with the article that a text may put before them."""
    lower = [word.lower() for word in words]
    return tuple(form for word in lower for form in ((word, f"a {word}") if word.isascii() else (word,)))


def _first(patterns: Iterable[tuple[str, str]], text: str) -> str:
    return next((name for name, pattern in patterns if re.search(pattern, text, re.IGNORECASE)), "")
