"""Rules of the knowledge → words that it says mean zero, and words that it says mean that there is no value."""

from __future__ import annotations

import re

_ZERO = r"(?:0(?!\d|\.\d|[%‰])|zero\b|nil\b|零(?![一二三四五六七八九点]))"
_NULL = r"(?:NULL\b|null\b|空值?|missing\b|not available\b|no value\b|缺失)"
_SAYS = (
    r"\s*(?:等(?:表述|字样|说法)?)?\s*(?:的?字段)?\s*(?:均|都|一律|all|both)?\s*"
    r"(?:means?|(?:is|are)(?: (?:stored|recorded|entered|taken|read|written|counted|treated) as)?"
    r"|(?:must|should|shall) be(?: (?:stored|recorded|entered|taken|read|written|counted|treated) as)?"
    r"|=|counts? as|stands? for|equals?|表示|(?:应|则|须)?(?:[记计视存取填作](?:录|入)?[为作成]?)|按|即|代表|指|对应(?:数值)?|为)"
    r"\s*(?:an?\s+)?(?:[\w ]{0,20}=\s*)?(?:空值?（)?\s*"
)
_QUOTED = r"[“\"'‘「『][^”\"'’」』\n]{1,40}[”\"'’」』]"
_QUOTES = re.compile(
    rf"((?:{_QUOTED})(?:\s*(?:[、，,/]|or|and|或|和|及|以及)?\s*(?:{_QUOTED}))*){_SAYS}({_ZERO}|{_NULL})", re.IGNORECASE
)
_PLAIN = re.compile(
    rf"(?:^|[.。;；,，:：\n])\s*(?:\d{{1,2}}[.、)]\s*|[*-]\s+)?(?:an?\s+|the\s+)?"
    rf"([A-Za-z][A-Za-z, -]{{2,80}}?|[\u3400-\u9fff、]{{2,30}}?){_SAYS}({_ZERO}|{_NULL})",
    re.IGNORECASE | re.MULTILINE,
)
_LIST = re.compile(r"[、，,/]|以及|或者?|和|(?<!提)及|\bor\b|\band\b")
_EMPTY = {
    "不得",
    "不",
    "不能",
    "不应",
    "never",
    "not",
    "it",
    "this",
    "that",
    "zero",
    "null",
    "value",
    "values",
    "the rest",
    "a",
    "blank",
    "default",
}
_SHORT, _LONG = 2, 40


def stated_words(rules: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words for zero and words for no value, in the order of the text; data, as every word of the knowledge."""
    zero: dict[str, None] = {}
    null: dict[str, None] = {}
    for pattern in (_QUOTES, _PLAIN):
        for match in pattern.finditer(rules):
            kept = zero if re.fullmatch(_ZERO, match[2], re.IGNORECASE) else null
            kept.update(dict.fromkeys(_words(match[1])))
    return tuple(zero), tuple(word for word in null if word not in zero)


def _words(text: str) -> list[str]:
    quoted = [found.strip("“”\"'‘’「」『』") for found in re.findall(_QUOTED, text)]
    words = quoted or [part.strip() for part in _LIST.split(text)]
    return [word for word in words if _SHORT <= len(word) <= _LONG and word.casefold() not in _EMPTY]
