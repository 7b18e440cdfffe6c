"""the question's words → numbers, comparisons, measures and names that it speaks of, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_DIGITS = re.compile(r"(?<![A-Za-z0-9_.])\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_])")
_RUNS = re.compile(r"\d+(?:\.\d+)?")
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORDS = {
    word: number
    for number, words in enumerate(
        (
            "zero none", "one once single first january jan", "two both twice double second pair february feb 两 双",
            "three triple third march mar", "four fourth april apr", "five fifth may", "six sixth june jun",
            "seven seventh july jul", "eight eighth august aug", "nine ninth september sep sept", "ten tenth october oct",
            "eleven eleventh november nov", "twelve twelfth december dec dozen",
        )
    )
    for word in words.split()
}  # fmt: skip
_COUNTS = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
    "thousand": 1000,
    "half": 0.5,
}
_HAN = {sign: number for number, sign in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0.5, "百": 100}
_LARGE = {"thousand": 1e3, "k": 1e3, "million": 1e6, "billion": 1e9, "千": 1e3, "万": 1e4, "百万": 1e6, "亿": 1e8}
_PERCENT = re.compile(r"\s*(?:%|％|percent|per cent|个百分点)")
RELATIVE = re.compile(
    r"(?i)\b(?:recent|past|last|previous|this|current|today|yesterday|ago|so far|to date|next|coming)\b"
    r"|最近|今年|去年|前年|本年|本月|上月|本季|上季|当前|目前|至今|今天|昨天|近[一二两三四五六七八九十\d]|过去|本周|上周|同期"
)

_UP, _DOWN = (">", ">="), ("<", "<=")
_BEFORE = (
    (r"at least|no (?:less|fewer|lower) than|not (?:less|fewer|lower) than|not below|(?:a )?minimum of|不少于|不低于|不小于|至少|大于等于|大于或等于|不下于", ">="),
    (r"at most|no (?:more|greater|higher|larger) than|not (?:more|greater|higher) than|not (?:exceed|exceeding|above|over)|up to|(?:a )?maximum of|不超过|不多于|不高于|不大于|至多|最多|小于等于|小于或等于", "<="),
    (r"(?:more|greater|larger|higher|bigger|longer|older|taller|heavier|better|later) than|exceed(?:s|ed|ing)?|above|over|超过|大于|高于|多于|超出|长于|晚于", ">"),
    (r"(?:less|fewer|smaller|lower|shorter|younger|lighter|cheaper|worse|earlier) than|below|under|小于|低于|少于|不足|不到|短于|早于", "<"),
    (r"after", "> ?"),
    (r"before", "< ?"),
    (r"since|from|starting (?:in|from)", ">?"),
    (r"until|till|by", "<?"),
)  # fmt: skip
_AFTER = (
    (r"(?:[^\W\d]+ )?(?:or|and) (?:more|above|over|higher|greater|older|later)|(?:及|或|和)(?:以上|更多)", ">="),
    (r"(?:[^\W\d]+ )?(?:or|and) (?:less|fewer|below|under|lower|younger|earlier)|(?:及|或|和)(?:以下|更少)", "<="),
    (r"[^\d，,。；;]{0,4}以上", ">?"),
    (r"[^\d，,。；;]{0,4}以下", "<?"),
)
_ALLOWED = {">=": (">=",), "<=": ("<=",), ">": (">",), "<": ("<",), ">?": _UP, "<?": _DOWN, "> ?": _UP, "< ?": _DOWN}
_NOT = re.compile(r"(?i)(?:\b(?:not|no|never|without)\b|n't|不|没|未)[^,，。;；]{0,12}$")
_NEAR = 28
"""Signs between a comparing phrase and its number."""


@dataclass(frozen=True)
class Phrase:
    """A comparing phrase and the signs that say the same."""

    words: str
    signs: tuple[str, ...]
    loose: bool
    """Strictness is open, or the phrase is negated."""


def is_chinese(text: str) -> bool:
    """Whether the text is written in Chinese for the most part."""
    return len(_CJK.findall(text)) * 2 > len(re.findall(r"[A-Za-z]+", text)) * 2


def numbers(text: str) -> list[tuple[float, int, int]]:
    """Numbers in digits that stand alone: value and place."""
    return [(float(m.group().replace(",", "")), m.start(), m.end()) for m in _DIGITS.finditer(text)]


def worded(text: str) -> list[tuple[float, int, int]]:
    """Numbers in English words, with their places."""
    found = re.finditer(r"[a-z]+", text.casefold())
    return [(float(_WORDS[m.group()]), m.start(), m.end()) for m in found if m.group() in _COUNTS]


def first_of(text: str) -> float | None:
    """How many of the first, most or least the text asks for; None where it gives no number."""
    found = re.search(
        r"(?i)\b(?:top|first|last|bottom)[ -](\w+)|\b(\w+) (?:[^\W\d]+ )?(?:most|least|\w{3,}est)\b"
        r"|前\s*(\d+|[一二两三四五六七八九十])|最[^\d，,。]{1,3}的?(\d+|[一二两三四五六七八九十])[^\d%％年月]",
        text,
    )
    word = next((part for part in found.groups() if part), "").casefold() if found else ""
    if word.isdigit():
        return float(word)
    return float(_WORDS[word]) if word in _COUNTS else float(_HAN[word]) if word in _HAN else None


def spoken(text: str) -> set[float]:
    """Every number that the text may mean: in digits, in words, as a share of its percentage, in thousands and so on."""
    found = {float(run) for run in _RUNS.findall(text.replace(",", ""))}
    for value, _, end in numbers(text):
        rest = text[end : end + 12].casefold()
        if _PERCENT.match(rest):
            found |= {value / 100}
        found |= {value * by for word, by in _LARGE.items() if rest.lstrip().startswith(word)}
    for whole in re.findall(r"百分之([\d.]+)", text):
        found |= {float(whole) / 100} if whole.replace(".", "", 1).isdigit() else set()
    words = re.findall(r"[a-z]+", text.casefold())
    found |= {float(_WORDS[word]) for word in words if word in _WORDS}
    found |= {float(_TENS[word]) for word in words if word in _TENS}
    return found | set(_han(text))


def _han(text: str) -> Iterator[float]:
    """Numbers in Chinese signs, each sign alone too: 两万 is 20000, 三十 is 30."""
    for run, large in re.findall(rf"([{''.join(_HAN)}]+)(百万|[千万亿])?", text):
        yield from (float(_HAN[sign]) for sign in run)
        tens, _, ones = run.rpartition("十")
        whole = _HAN.get(ones, 0) + 10 * _HAN.get(tens, 1) if "十" in run else _HAN[run[-1]]
        yield float(whole)
        if large:
            yield whole * _LARGE[large]


def is_percent(text: str, value: float) -> bool:
    """Whether the text gives this value as a percentage."""
    return any(v == value and _PERCENT.match(text[end : end + 12].casefold()) for v, _, end in numbers(text)) or bool(
        re.search(rf"百分之{re.escape(f'{value:g}')}(?!\d)", text)
    )


def phrase(text: str, start: int, end: int) -> Phrase | None:
    """The comparing phrase of the number at this place; None where there is none, or more than one fits."""
    low = text.casefold()
    for pattern, sign in _AFTER:
        if found := re.match(rf"[\s%％]*(?:{pattern})", low[end : end + 24]):
            return Phrase(found.group().strip(), _ALLOWED[sign], len(_ALLOWED[sign]) > 1)
    left = re.split(r"[,，。；;、?？]|\d", low[max(0, start - _NEAR - 20) : start])[-1]
    best: tuple[int, int, str, str] | None = None
    for pattern, sign in _BEFORE:
        for found in re.finditer(rf"(?<![a-z])(?:{pattern})(?![a-z])", left):
            rank = (found.end(), found.end() - found.start(), found.group(), sign)
            best = max(best, rank) if best else rank
    if best is None or len(left) - best[0] > _NEAR:
        return None
    signs = _ALLOWED[best[3]]
    if _NOT.search(left[: best[0] - best[1]]):
        signs = (*signs, *(_turned(sign) for sign in signs))
    return Phrase(best[2], signs, len(signs) > 1)


def _turned(sign: str) -> str:
    return {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[sign]


KEPT = re.compile(
    r"(?i)\b(?:includ\w+|also|even)\b[^.?]{0,40}\b(?:none|no|not|without|zero|never)\b|[包括含]{1,2}(?:那些)?没有|即使没有|没有的也"
)
"""Things that have nothing of what is counted are wanted too."""
AVERAGE = re.compile(r"(?i)\b(?:average|averages|averaged|avg|mean|per)\b|平均|均值|人均|每")
MEAN = re.compile(r"(?i)\b(?:average|averages|averaged|avg|mean)\b|平均|均值|人均")
"""An average by name; `AVERAGE` has words beside it that may mean one."""
TOTAL = re.compile(r"(?i)\b(?:total|totals|sum|combined|altogether|overall|cumulative)\b|总|合计|共计|一共|累计|之和")
COUNTED = re.compile(
    r"(?i)\b(?:how many|number|count|counts|numbers|quantity)\b|多少|几[个名条位家次所笔件种]|数量|次数|人数|个数|笔数|件数|家数|人次"
)
_BOUNDS = re.compile(
    r"(?i)\bat (?:least|most)\b|(?:no|not) (?:more|less|fewer)|至[少多]|不[多少]于|\bmore than\b|\bless than\b|最近|最后|最终|最多不|最少不"
)
HIGH = re.compile(r"(?i)\b(?:highest|largest|most|maximum|max|greatest|biggest|longest)\b|最高|最大|最多|最长|最好")
LOW = re.compile(r"(?i)\b(?:lowest|smallest|least|minimum|min|fewest|shortest|cheapest)\b|最低|最小|最少|最短|最差")
EXTREME = re.compile(
    r"(?i)\b(?!west\b|east\b|test|rest\b|request|interest|guest|forest|harvest|honest|protest|invest|contest|quest|suggest|digest)\w+est\b"
    r"|\b(?:most|least|top|first|last|maximum|minimum|max|min|best|worst|ranked|leading|one|any|single|next|previous)\b"
    r"|最|前|首|第[一二三四五六七八九十\d]|排名|任意|一个|一条"
)
UNIQUE = re.compile(
    r"(?i)\b(?:distinct|unique|different|without (?:repetition|duplicates)|deduplicated|each once)\b|不同|去重|不重复|唯一|哪些种|几种|哪几"
)


def without_bounds(text: str) -> str:
    """The text without `at least`, `at most` and their like, which name no extreme."""
    return _BOUNDS.sub(" ", text)


def stems(text: str) -> set[str]:
    """Words in one form each: plural, tense and case taken off; Chinese as pairs of signs."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[_\W]+", " ", text)
    found = {_stem(word) for word in re.findall(r"[A-Za-z]+", spaced.casefold())}
    for run in re.findall(r"[\u3400-\u9fff]+", text):
        found |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    return {word for word in found if len(word) > 1 and word not in _EMPTY}


_EMPTY = {
    "of",
    "the",
    "to",
    "in",
    "on",
    "is",
    "at",
    "by",
    "for",
    "and",
    "or",
    "id",
    "an",
    "no",
    "dim",
    "fact",
    "ref",
    "tbl",
    "table",
}


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ied", "es", "ed", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def overlap(names: Iterable[str], said: set[str]) -> float:
    """Share of the names' words that are among those said, 0 to 1; 0 where there are none."""
    own = set(_each(names))
    return sum(_among(word, said) for word in own) / len(own) if own else 0.0


def _each(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from stems(name)


def _among(word: str, said: set[str]) -> bool:
    return word in said or (
        len(word) >= 4 and any(len(one) >= 4 and (one.startswith(word) or word.startswith(one)) for one in said)
    )
