"""What a column means and what the knowledge says of it → the context in which its texts are read."""

from __future__ import annotations

import re

from tasks.core.models.document import PlanColumn
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


def context_of(column: PlanColumn, rules: str = "", language: str = "") -> Context:
    """Signs of falls and words for zero, where the column's meaning or the rules for it say so; nothing else is assumed."""
    said = "\n".join(part for part in (column.doc_meaning, column.task_meaning, rules) if part)
    zeros = [found.strip() for pattern in (_ZERO_ZH, _ZERO_EN) for found in pattern.findall(said)]
    return Context(
        language="zh" if language == "zh" else "en" if language == "en" else "",
        fall_is_negative=bool(
            _SIGNED.search(f"{column.name.replace('_', ' ')} {column.doc_meaning} {column.task_meaning}")
        ),
        zero_words=tuple(dict.fromkeys(zeros)),
    )
