"""A line → whether its words correct something, and whether they name a column."""

from __future__ import annotations

import re

from tasks.core.models.document import PlanColumn
from tasks.core.values.nouns import singular

_CORRECTS = re.compile(
    r"更正|勘误|订正|修正|修订|作废|改为|有误|差错|笔误|更改|并非|复核|核实"
    r"|\b(?:correct|corrects|corrected|corrections?|corrigend\w+|errat\w+|amend\w*|revis\w+|restat\w+|supersed\w+|withdrawn"
    r"|replaced by|should (?:read|be|have)|in error|the right (?:value|figure)|mistake\w*|misprint\w*|wrong\w*)\b",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[a-z]{3,}")
_WIDE = re.compile(r"[\u3400-\u9fff]{2,}")
_LIGHT = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "from",
        "that",
        "this",
        "its",
        "per",
        "all",
        "each",
        "number",
        "amount",
        "total",
        "value",
        "table",
        "column",
        "record",
    ]
)


def corrects(text: str) -> bool:
    """Whether a text sounds like a correction: reading too many lines as one costs tokens only."""
    return bool(_CORRECTS.search(text))


def names_column(text: str, column: PlanColumn) -> bool:
    """Whether a line has a word of the column's name or of how the document writes it."""
    about = f"{column.doc_meaning} {column.name.replace('_', ' ')}".casefold()
    line = text.casefold()
    latin = {singular(word) for word in _LATIN.findall(about)} - _LIGHT
    if latin & {singular(word) for word in _LATIN.findall(line)}:
        return True
    return any(run[at : at + 2] in line for run in _WIDE.findall(about) for at in range(len(run) - 1))
