"""Words around a number (约, about, nearly, 余, at least) → the number's text and what they say of it."""

from __future__ import annotations

import re

_FRONT = {
    "about": r"大约为|大约|大概|大致|约为|约合|约计|约|几近|approximately|approx\.?|about|around|roughly|some|circa|ca\.|c\.|~|≈|in the region of|in the order of|estimated(?: at)?",
    "nearly": r"将近|接近|近乎|近|nearly|almost|close to|just under|just short of|not quite",
    "over": r"超过|逾|超|突破|高于|多于|more than|over|above|just over|in excess of|upwards of|north of|exceeding",
    "under": r"不足|不到|低于|少于|less than|under|below|fewer than",
    "bound": r"至少|不低于|不少于|不高于|不超过|不多于|至多|最多|最高|最低|at least|at most|no more than|not more than|no less than|not less than|no fewer than|up to|a maximum of|a minimum of|>=|<=|>|<|≥|≤|≧|≦",
    "": r"共计|合计|总计|累计|共|计|为|达到|高达|达|只有|仅有|仅|约等于|合|exactly|only|just|a total of|total of|totall?ing|in total|equal to|=",
}  # fmt: skip
_BACK = {
    "about": r"左右|上下|前后|or so|or thereabouts|approx\.?|approximately|\(approx\.?\)|\(约\)|\(估计\)|\(estimated\)|\(est\.?\)",
    "over": r"有余|余|多|\+|or so more|and counting|-odd|odd",
    "bound": r"以上|以下|以内|之内|及以上|及以下|or more|or less|or above|or fewer|at least|at most|起",
    "": r"整|正|in total|in all|altogether|only|not?",
}  # fmt: skip
ROUNDED = frozenset({"about", "nearly", "over", "under"})
"""Kinds of hedges that mark a number as not exact; of a bound there is no value at all."""
_BARE = re.compile(r"^([百千万亿])(?=[余多])")
_LAI = re.compile(r"(?<=[十百千\d])来(?=[万亿人个名家年天元件次岁])")
_PLAIN_ENDS = "股元%0123456789人份户"
"""No hedge ends with these; most texts do."""


def _pattern(groups: dict[str, str]) -> str:
    return "|".join(f"(?P<{name or 'plain'}>{words})" for name, words in groups.items())


_START = re.compile(rf"(?:{_pattern(_FRONT)})(?:(?<=[^A-Za-z])|(?=[\W\d]))\s*", re.I)
_END = re.compile(rf"\s*(?:{_pattern(_BACK)})$", re.I)
_INSIDE = re.compile(r"(?<=[一二三四五六七八九十百千\d])[余多](?=[万亿千百])")
_TAIL = re.compile(r"(?<=[十百千万亿\d])[余多](?=[^\d年月日余多])")


def strip_hedges(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its hedges, and their kinds (`about`, `nearly`, `over`, `under`, `bound: at least`)."""
    kinds: list[str] = []
    while not text[:1].isdigit() and (found := _START.match(text)):
        kinds.append(_kind(found))
        text = text[found.end() :]
    while text[-1:] not in _PLAIN_ENDS and (found := _END.search(text)) and found.start():
        kinds.append(_kind(found))
        text = text[: found.start()]
    text = _BARE.sub(r"一\1", text)
    for pattern in (_INSIDE, _TAIL):
        text, count = pattern.subn("", text)
        kinds += ["over"] * bool(count)
    text, count = _LAI.subn("", text)
    kinds += ["about"] * bool(count)
    return text, tuple(dict.fromkeys(kind for kind in kinds if kind))


def _kind(found: re.Match[str]) -> str:
    name = found.lastgroup or ""
    if name == "plain":
        return ""
    return f"bound: {found[0].strip()}" if name == "bound" else name
