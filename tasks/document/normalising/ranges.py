"""A column + the knowledge's rules → which value of a range it stores, where a rule says so of it or of all values."""

from __future__ import annotations

import re
from typing import Literal

from tasks.core.models.document import PlanColumn
from tasks.core.values.nouns import singular

Span = Literal["", "low", "middle", "high"]
_RANGE = r"(?:区间|范围|\branges?\b|\bintervals?\b)"
_RANGE_SAID = re.compile(_RANGE, re.IGNORECASE)
_NAMES: tuple[tuple[Span, re.Pattern[str]], ...] = (
    (
        "middle",
        re.compile(
            r"中点|中值|中间值|中位|平均|均值|\bmid-?points?\b|\bmid-points?\b|\bmiddles?\b|\bmeans?\b|\baverages?\b",
            re.I,
        ),
    ),
    (
        "low",
        re.compile(
            r"下限|低值|最小值|下界|\blow(?:er)? (?:end|bound|limit|value)s?\b|\bminimum\b|\bsmaller (?:number|value|figure)\b",
            re.I,
        ),
    ),
    (
        "high",
        re.compile(
            r"上限|高值|最大值|上界|\b(?:high(?:er)?|upper) (?:end|bound|limit|value)s?\b|\bmaximum\b|\blarger (?:number|value|figure)\b",
            re.I,
        ),
    ),
)
_STORED = re.compile(
    r"取|记|存|按|采用|使用|入库|填|以|\b(?:is|are|be|use|used|take|taken|store|stored|count|counts|enter|entered|record|recorded|by|with|becomes?|means?)\b",
    re.I,
)
_NOT = re.compile(r"不取|不得取|不按|不采用|\b(?:not|never|no|neither)\b", re.I)
_GENERAL_EN = """
where if when whenever only just a an the is are was were be been given gives give as of for in on by with its
it their them that this which value values figure figures number numbers quantity quantities text texts source
sources document documents prose report reports field fields column columns stored store stores recorded
record records taken take takes used use uses counts count entered enter enters written write quoted stated
told said appears appear comes come range ranges interval intervals midpoint midpoints mid point points middle
mean average averages lower low upper high higher end bound limit minimum maximum all any every each other and
or must should shall instead rather than not both ends between two there to into becomes become what has have
wherever smaller larger from estimates estimate they s one such expressed states
"""
"""Words that name no field: a rule of these alone speaks of all values."""
_GENERAL_WORDS = frozenset(_GENERAL_EN.split())
_GENERAL_ZH = re.compile(
    r"原文|文中|文档|文本|正文|材料|报告|资料|数值|数字|数据|数量|字段|指标|各|所有|凡是?|如果|如|若|当|只|仅|给出|写成|写作|写为|表示|表述|出现|列示|披露"
    r"|为|是|以|的|时|者|则|其|均|一律|都|应|须|可|取|记录?|存储?|入库|按|采用|使用|填|区间|范围|中点|中间值|中值|中位数?|平均数?值?|均值|下限|上限"
    r"|低值|高值|最小值|最大值|下界|上界|一个|某个?|形式|两端|或|和|与|等|值|在|上|中|这|该|此|统一|作|成|了|有|呈|提供|标注|说明|之"
)
_SENTENCES = re.compile(r"[\n。；;]|\.(?!\d)")


def span_of(column: PlanColumn, rules: str) -> Span:
    """`low`, `middle` or `high`; empty where nothing is said, or rules contradict each other.

    A rule that names what it speaks of holds for the column whose meaning or name has those words; it goes before a
    rule about ranges at large.
    """
    own: set[Span] = set()
    large: set[Span] = set()
    for sentence in _SENTENCES.split(f"{column.task_meaning}\n{column.doc_meaning}"):
        own |= _said(sentence)
    for sentence in _SENTENCES.split(rules):
        if said := _said(sentence):
            subject = _subject(sentence, column)
            if subject is not None:
                (own if subject else large).update(said)
    decided = own or large
    return next(iter(decided)) if len(decided) == 1 else ""


def _said(sentence: str) -> set[Span]:
    if not _RANGE_SAID.search(sentence) or not _STORED.search(sentence) or _NOT.search(sentence):
        return set()
    return {name for name, pattern in _NAMES if pattern.search(sentence)}


def _subject(sentence: str, column: PlanColumn) -> str | None:
    """What the sentence speaks of, when it is this column; empty for all values, None for another column."""
    about = f"{column.name.replace('_', ' ')} {column.doc_meaning} {column.task_meaning}".lower()
    if re.search(rf"(?<![^\W_]){re.escape(column.name)}(?![^\W_])", sentence, re.I):
        return column.name
    low = re.sub(r"^\s*(?:\d{1,2}[.、)]|[-*])\s*", "", sentence.lower())
    english = [singular(word) for word in re.findall(r"[a-z]+", low) if word not in _GENERAL_WORDS]
    chinese = re.findall(r"[\u3400-\u9fff]{1,}", _GENERAL_ZH.sub(" ", low))
    if not english and not chinese:
        return ""
    known = {singular(word) for word in re.findall(r"[a-z]+", about)}
    if all(word in known for word in english) and all(part in about for part in chinese):
        return " ".join([*english, *chinese])
    return None
