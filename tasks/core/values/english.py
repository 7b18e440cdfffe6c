"""An English numeral in words (two hundred and five, one and a half million) → its exact value."""

from __future__ import annotations

import re
from fractions import Fraction

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES = {word: value for value, word in enumerate(_ONES.split())}
TENS = {word: 10 * at for at, word in enumerate(_TENS.split(), 2)}
LARGE = {"thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9, "trillion": 10**12}
PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
         "tenth": 10, "halve": 2, "hundredth": 100}  # fmt: skip
_WORDS = "|".join(
    sorted([*ONES, *TENS, *LARGE, "hundred", "and", "a", "an", "point", "half", "dozen"], key=len, reverse=True)
)
RUN = re.compile(rf"(?:(?:{_WORDS})\b[\s,-]*)+", re.I)
"""A run of numeral words at the start of a text."""
_PART = re.compile(
    rf"(?:(?P<n>a|an|one|two|three|four|five|six|seven|eight|nine)[\s-]+)?(?P<d>{'|'.join(PARTS)})s?(?:\s+of\b.*)?",
    re.I,
)


def part(text: str) -> Fraction | None:
    """Value of `a third`, `three quarters`, `half`, `two-fifths`; None when it is none."""
    found = _PART.fullmatch(text)
    if not found or (not found["n"] and found["d"].lower() != "half"):
        return None
    over = 1 if not found["n"] or found["n"].lower() in ("a", "an") else ONES[found["n"].lower()]
    under = PARTS[found["d"].lower()]
    return Fraction(over, under) if over < under or under == 2 else None


def english(text: str) -> Fraction | None:
    """Exact value of a numeral in English words; None when it is none."""
    words = [word for word in re.split(r"[\s,-]+", text.lower()) if word]
    while words and words[0] == "and":
        words = words[1:]
    if not words or words[-1] in ("and", "a", "an", "point"):
        return None
    if "point" in words:
        return _decimal(words)
    return _whole(words)


def _decimal(words: list[str]) -> Fraction | None:
    at = words.index("point")
    head, tail = words[:at], words[at + 1 :]
    size = 1
    while tail and tail[-1] in LARGE:
        size *= LARGE[tail.pop()]
    if not head or not tail or any(ONES.get(word, 10) > 9 for word in tail):
        return None
    whole = _whole(head)
    digits = "".join(str(ONES[word]) for word in tail)
    return None if whole is None else (whole + Fraction(int(digits), 10 ** len(digits))) * size


def _whole(words: list[str]) -> Fraction | None:
    total, current, room, ceiling = Fraction(0), Fraction(0), 1000, 10**15
    fresh = True  # nothing stands before the next size word yet
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word == "and":
            if at == 0 or not following:
                return None
        elif word in ("a", "an"):
            if following not in ("hundred", "dozen", "half", *LARGE) and not (at and words[at - 1] == "half"):
                return None
        elif word == "half":
            current, room, fresh = current + Fraction(1, 2), 0, False
        elif word in ONES or word in TENS:
            value = ONES.get(word, TENS.get(word, 0))
            if value >= room or (room == 10 and value == 0):
                return None
            current, room, fresh = current + value, 10 if word in TENS else 0, False
        elif word in ("hundred", "dozen"):
            if current >= 100 or (fresh and (at == 0 or words[at - 1] not in ("a", "an"))):
                return None
            current, room, fresh = (current or Fraction(1)) * (100 if word == "hundred" else 12), 100, False
        elif word in LARGE:
            size = LARGE[word]
            if size >= ceiling or (fresh and (at == 0 or words[at - 1] not in ("a", "an"))):
                return None
            total, current, room, ceiling, fresh = (
                total + (current or Fraction(1)) * size,
                Fraction(0),
                1000,
                size,
                True,
            )
        else:
            return None
    return total + current
