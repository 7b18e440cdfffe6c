"""A clean text that denies what its column holds (nothing was recycled, 没有包裹破损) → whether it says zero.

The words that are denied must stand in the column's meaning: of anything else a denial says nothing about this column.
A figure that is not there (no price was named, 没有金额) is no zero.
"""

from __future__ import annotations

import re

from tasks.core.values.nouns import singular
from tasks.core.values.units import RATIO, target_of

LONGEST = 80
_MEASURE_EN = re.compile(
    r"\b(?:ratio|share(?!s)(?! of\b)|rate|percentage|per ?cent|price|figure|value|number|amount|level|data|information|total|size|height|weight|"
    r"age|date|score|rating|change|difference|limit|quota|target|doubt|word|sign)s?\b"
)
_MEASURE_ZH = re.compile(
    r"占比|比例|比率|比重|率|价|金额|数量|数值|数据|数字|总额|总数|[数额量度值]$|变化|差异|限制|要求|记录|资料|信息|说明"
)
_DENIED_EN = re.compile(
    r"(?:there (?:was|were) )?(?:no|none|nothing|nobody|no one|not (?:a single|any|one|a)|zero)\b(?P<body>[a-z' -]+)"
)
_FREE_EN = re.compile(
    r"(?:[a-z' ]{0,30} )?(?:(?:costs?|paid|charged|cost) (?:nothing|no(?: money)?)(?: in| as| for)?|(?:for|at|without(?: any)?) (?:no |an? |any )?|"
    r"(?:paid|charged|took|gave|received|claimed) no) ?(?P<body>[a-z' -]*)"
)
_DID_NOT = re.compile(
    r"(?:[a-z' ]{0,40} )?(?:failed to|did not|didn't|never|has yet to|without) (?P<verb>[a-z]+)"
    r"(?: (?:a|any|one|single|once|ever|again|all|this|that|the|in|during|season|year|month|quarter|at)\b)*(?P<what>(?: [a-z]+){0,2})"
)
_DEEDS = {
    "score": "goal",
    "assist": "assist",
    "appear": "appearance",
    "win": "win",
    "lose": "defeat",
    "fail": "failure",
}
"""What a verb counts where its noun has another root."""
_DENIED_ZH = re.compile(
    r"(?:均|都|也|并|本[月年季期周日])?(?:没有|未有|无一|未见|不存在|无)(?:任何|一[个名人件只台户]?)?(?P<body>[\u3400-\u9fff]{2,12})"
)
_LIGHT_WORDS = """
the a an of any in by for on at to its their his her this that it them all was were is are be been has have had being
so far part parts portion whole single one ever yet during year month season quarter period day there as
"""
_LIGHT_EN = frozenset(_LIGHT_WORDS.split())
_SAID_EN = frozenset({"reported", "recorded", "noted", "registered", "received", "made", "credited", "filed", "lodged"})
"""Verbs that with a count deny the thing counted; elsewhere they may deny the figure."""
_PAYING = frozenset({"paid", "charged", "due", "owed", "payable"})
_LIGHT_ZH = re.compile(r"被|了|过|的|任何|有|发生|出现|产生|一[个名人件]|[人个名件]$")


def denies(text: str, unit: str, about: str) -> bool:
    """Whether a text says that there is nothing of what `about` (the column's meaning) speaks of."""
    if not about or len(text) > LONGEST or any(char.isdigit() for char in text):
        return False
    word, meaning, target = text.lower().strip(" ."), about.lower(), target_of(unit)
    counted = target.dimension.startswith("count:")
    if target.dimension != RATIO and not counted and not target.money:
        return False
    if found := _DENIED_ZH.fullmatch(word):
        return not target.money and _covered(found["body"], meaning)
    if _MEASURE_EN.search(word):
        return False
    if counted and (found := _DID_NOT.fullmatch(word)):
        return _did_not(found["verb"], found["what"], meaning)
    if (target.money or counted) and (found := _FREE_EN.fullmatch(word)):
        return _named(found["body"], meaning, set())
    if found := _DENIED_EN.fullmatch(word):
        words = [part for part in re.findall(r"[a-z]+", found["body"]) if part not in _LIGHT_EN]
        verbs = _SAID_EN | _PAYING if counted else _PAYING
        does = [part for part in words if part in verbs or part.endswith(("ed", "ing", "en"))]
        return bool(does) and _named(found["body"], meaning, set(verbs))
    return False


def _did_not(verb: str, what: str, meaning: str) -> bool:
    """`failed to score` in a column of goals, `never won a match` in one of matches won."""
    known, root = {_root(part) for part in re.findall(r"[a-z]+", meaning)}, _root(verb)
    deed = next((noun for name, noun in _DEEDS.items() if _root(name) == root), "")
    said = root in known or (bool(deed) and _root(deed) in known)
    return said and all(_root(part) in known for part in what.split() if part not in _LIGHT_EN)


def _named(body: str, meaning: str, free: set[str]) -> bool:
    """Whether all content words of a body stand in the meaning, one at least."""
    known = {_root(part) for part in re.findall(r"[a-z]+", meaning)}
    part_of = re.sub(r"\b(?:part|portion|share)s? of (?:the |its )?[a-z]+\b", "", body)
    wanted = [_root(part) for part in re.findall(r"[a-z]+", part_of) if part not in _LIGHT_EN and part not in free]
    return bool(wanted) and all(part in known for part in wanted)


def _covered(body: str, meaning: str) -> bool:
    """Whether a Chinese body falls into pieces of two signs or more that stand in the meaning."""
    if _MEASURE_ZH.search(body):
        return False
    rest = _LIGHT_ZH.sub("", body)
    reach = {0}
    for end in range(2, len(rest) + 1):
        if any(start in reach and rest[start:end] in meaning for start in range(end - 1)):
            reach.add(end)
    return len(rest) >= 2 and len(rest) in reach


def _root(word: str) -> str:
    """A crude stem; both sides are cut alike."""
    word = singular(word)
    for end in ("ing", "ed", "ment", "al"):
        if word.endswith(end) and len(word) - len(end) >= 4:
            return word[: -len(end)].rstrip("e")
    return word.rstrip("e")
