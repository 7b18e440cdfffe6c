"""What a column means and what the knowledge says of it → the context in which its texts are read."""

from __future__ import annotations

import re
from typing import Literal

from tasks.core.models.document import ColumnType, PlanColumn
from tasks.core.values.clean import clean
from tasks.core.values.context import Context

_SIGNED = re.compile(
    r"可为负|负值|涨跌|增长率|增幅|变动|变化|收益率|回报率|盈亏|净利|\b(?:return|growth|change|gain or loss|profit|yield|may be negative|can be negative)\b",
    re.I,
)
_ZERO_ZH = re.compile(
    r"[“\"「]?([^\s，。；,;、：:（）()“”\"「」]{1,12}?)[”\"」]?(?:的)?(?:一律|均|应|则|都|按)?(?:记|计|视|存|取|填|作)(?:作|为|成)? ?(?:0|零)(?![.\d])"
)
_ZERO_EN = re.compile(
    r"(?:^|[,;.:(]|\bwhere\b|\band\b)\s*[\"'“]?(?:an? |the )?([\w -]{2,30}?)[\"'”]? (?:is|are|means?|=|counts?|(?:must|should|shall) be)(?: \w+ as| as)? ?(?:0|zero)\b(?!\.\d)",
    re.I,
)


_ZERO_QUOTED = re.compile(
    r"((?:[“\"「][^”\"」]{1,20}[”\"」][、，,和或及与]?){1,6})(?:一律|均|应|则|都|按)?(?:记|计|视|存|取|填|作)(?:作|为|成)? ?(?:0|零)(?![.\d])"
)
_SPANS: tuple[tuple[Literal["low", "middle", "high"], re.Pattern[str]], ...] = (
    (
        "middle",
        re.compile(
            r"(?:区间|范围)[^。；\n]{0,12}(?:中点|中值|中间值|平均)|\brange\b[^.\n]{0,60}(?:midpoint|mid-point|middle|mean|average)|(?:midpoint|mid-point|middle) of (?:the|a) range",
            re.I,
        ),
    ),
    (
        "low",
        re.compile(
            r"(?:区间|范围)[^。；\n]{0,12}取(?:下限|低值|最小值)|\brange\b[^.\n]{0,60}(?:lower (?:end|bound|limit))",
            re.I,
        ),
    ),
    (
        "high",
        re.compile(
            r"(?:区间|范围)[^。；\n]{0,12}取(?:上限|高值|最大值)|\brange\b[^.\n]{0,60}(?:upper (?:end|bound|limit))",
            re.I,
        ),
    ),
)


def context_of(column: PlanColumn, rules: str = "", language: str = "") -> Context:
    """Signs of falls and words for zero, where the column's meaning or the rules for it say so; nothing else is assumed."""
    said = "\n".join(part for part in (column.doc_meaning, column.task_meaning, rules) if part)
    zeros = [found.strip() for pattern in (_ZERO_ZH, _ZERO_EN) for found in pattern.findall(said)]
    zeros += [word for run in _ZERO_QUOTED.findall(said) for word in re.findall(r"[“\"「]([^”\"」]+)[”\"」]", run)]
    return Context(
        span=next((name for name, pattern in _SPANS if pattern.search(said)), ""),
        language="zh" if language == "zh" else "en" if language == "en" else "",
        fall_is_negative=bool(
            _SIGNED.search(f"{column.name.replace('_', ' ')} {column.doc_meaning} {column.task_meaning}")
        ),
        zero_words=tuple(dict.fromkeys(zeros)),
    )


_TWO_SIDED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)")
_YEARS = re.compile(r"(?<!\d)((?:18|19|20)\d\d)(?=[年/.-]|$|\W)")
_CENTURY = 100
_MARGIN = 5
"""Years by which a two-digit year may lie after the column's latest full year."""


def settled(context: Context, column_type: ColumnType, raws: tuple[str, ...]) -> Context:
    """The context of a date column with the order and century that its other texts decide, when they all agree."""
    if column_type not in ("date", "datetime"):
        return context
    texts = [clean(raw) for raw in raws]
    pairs = [(int(found[1]), int(found[3])) for text in texts if (found := _TWO_SIDED.match(text))]
    days, months = any(first > 12 for first, _ in pairs), any(second > 12 for _, second in pairs)
    years = [int(year) for text in texts for year in _YEARS.findall(text)]
    changes: dict[str, str | int] = {}
    if not context.date_order and days != months:
        changes["date_order"] = "DMY" if days else "MDY"
    if context.pivot is None and years and max(years) - min(years) < _CENTURY - 2 * _MARGIN and max(years) >= 2000:
        changes["pivot"] = min(max(years) - 2000 + _MARGIN, _CENTURY - 1)
    return context.model_copy(update=changes)
