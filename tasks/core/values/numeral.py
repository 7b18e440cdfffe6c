"""The numeral at the start of a text, in any script → its exact value and what follows it."""

from __future__ import annotations

import re
from fractions import Fraction

from tasks.core.values.arabic import HEAD, arabic, exponent
from tasks.core.values.chinese import LETTERS, chinese
from tasks.core.values.context import Unread
from tasks.core.values.english import RUN, english
from tasks.core.values.scales import SCALES

_MIXED = re.compile(rf"[\d{LETTERS}][\d,.点點{LETTERS}]*")
_HAN = re.compile(rf"[点點{LETTERS}]")
_ZH_TAIL = re.compile(r"[,.点點]+$")
_WORD = re.compile(
    r"\s*-?\s*(thousand|lakhs?|million|crores?|billion|trillion|bn|mn|mln|dozen)\b(?!\s*(?:of\s+)?(?:thousand|million))",
    re.I,
)
_FURTHER = re.compile(r"\s*(?:and|,)?\s*(?=\d)")


def numeral(text: str, decimal: str = ".") -> tuple[Fraction, str] | None:
    """Value and rest; None when the text starts with no numeral; Unread when it starts with one that is not decided."""
    first = text[:1]
    if not first:
        return None
    if first.isdigit() or first == ".":
        return _digits(text, decimal)
    if _HAN.match(first):
        return _mixed(text)
    if first.isalpha() and (found := RUN.match(text)):
        return _words(text, found)
    return None


def _digits(text: str, decimal: str) -> tuple[Fraction, str] | None:
    mixed = _MIXED.match(text)
    if mixed and _HAN.search(mixed[0]):
        return _mixed(text)
    head = HEAD.match(text)
    if not head:
        return None
    digits = head[0].rstrip(",.'")
    value = arabic(digits, decimal)
    rest = text[len(digits) :]
    power, length = exponent(rest)
    if length:
        value, rest = value * Fraction(10) ** power, rest[length:]
    elif found := _WORD.match(rest):
        size = SCALES.get(found[1].lower(), 12)
        value, rest = value * size, rest[found.end() :]
        value, rest = _continued(value, rest, size, decimal)
    return value, rest


def _continued(value: Fraction, rest: str, size: int, decimal: str) -> tuple[Fraction, str]:
    """`3 million 200 thousand`: a smaller part follows."""
    gap = _FURTHER.match(rest)
    if not gap:
        return value, rest
    further = _digits(rest[gap.end() :], decimal)
    if further and 0 < further[0] < size and value.denominator == 1:
        return value + further[0], further[1]
    return value, rest


def _mixed(text: str) -> tuple[Fraction, str] | None:
    found = _MIXED.match(text)
    if not found:
        return None
    head = _ZH_TAIL.sub("", found[0])
    if len(head) > 1 and head[-1] in "百千" and text[len(head) : len(head) + 1] == "分":  # 1.55百分点
        return numeral_before(head[:-1], text)
    value = chinese(head)
    if value is None and head[-1] in "两千":  # 3两 and 5千克 carry a unit whose first letter looks like a numeral
        shorter = head[:-1]
        value = chinese(shorter) if shorter else None
        if shorter and value is None and shorter.isdigit():
            value = Fraction(shorter)
        head = shorter
    if value is None:
        raise Unread(f"{found[0]}: no one numeral")
    return value, text[len(head) :]


def numeral_before(head: str, text: str) -> tuple[Fraction, str] | None:
    """Value of `head` and what follows it in `text`; the next letters belong to a unit."""
    found = numeral(head)
    return (found[0], text[len(head) :]) if found and not found[1] else None


def _words(text: str, found: re.Match[str]) -> tuple[Fraction, str] | None:
    words = re.findall(r"[A-Za-z]+[\s,-]*", found[0])
    for count in range(len(words), 0, -1):
        head = "".join(words[:count])
        value = english(head)
        if value is not None:
            return value, text[len(head) :]
        if words[count - 1].strip(" ,-").lower() not in ("and", "a", "an", "point"):
            return None
    return None
