"""A number in digits (1,234.5; 1.234,5; 1 234; 12,34,567; 1.2e6; 2 1⁄2) → its exact value."""

from __future__ import annotations

import re
from fractions import Fraction

from tasks.core.values.context import Undecided, Unread

LARGEST_EXPONENT = 300
"""A float ends at about 1e308."""
HEAD = re.compile(
    r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?![\d,.]*\d)(?=\s|\D|$)"
    r"|\d+(?: \d+)?⁄\d+"
    r"|(?:\d[\d,.']*\d|\d|\.\d+)"
)
_PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_ENGLISH = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_EUROPEAN = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_SWISS = re.compile(r"\d{1,3}(?:'\d{3})+(?:[.,]\d+)?")
_SPACED = re.compile(r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_COMMA = re.compile(r"\d+,\d+")
_DOT_GROUP = re.compile(r"\d{1,3}\.\d{3}")
EXPONENT = re.compile(r"\s?(?:[eE]([+-]?\d{1,3})(?![\d.])|\s?[*×x]\s?10\s?(?:\^|\*\*)\s?\(?([+-]?\d{1,3})\)?(?![\d.]))")


def arabic(text: str, decimal: str = ".") -> Fraction:
    """Exact value of digits with separators; raises Unread when the separators do not decide."""
    if decimal == "," and _DOT_GROUP.fullmatch(text):
        return Fraction(text.replace(".", ""))
    if _PLAIN.fullmatch(text):
        return Fraction(text)
    if decimal == "," and _COMMA.fullmatch(text):
        return Fraction(text.replace(",", "."))
    if (_ENGLISH.fullmatch(text) and text[0] != "0") or _INDIAN.fullmatch(text):
        return Fraction(text.replace(",", ""))
    if _EUROPEAN.fullmatch(text):
        return Fraction(text.replace(".", "").replace(",", "."))
    if _SWISS.fullmatch(text) or _SPACED.fullmatch(text):
        return Fraction(text.replace("'", "").replace(" ", "").replace(",", "."))
    if "⁄" in text:
        return _vulgar(text)
    if _COMMA.fullmatch(text):
        raise Undecided(f"{text}: decimal comma or list, not decided")
    raise Unread(f"{text}: separators do not fit one convention")


def _vulgar(text: str) -> Fraction:
    whole, _, rest = text.rpartition(" ")
    over, under = rest.split("⁄")
    if not int(under):
        raise Unread(f"{text}: division by zero")
    return Fraction(int(whole or 0)) + Fraction(int(over), int(under))


def exponent(text: str) -> tuple[int, int]:
    """Power of ten written at the start of `text` and its length; (0, 0) when there is none."""
    found = EXPONENT.match(text)
    if not found:
        return 0, 0
    power = int(found[1] or found[2])
    if abs(power) > LARGEST_EXPONENT:
        raise Undecided(f"exponent {power} is out of range")
    return power, found.end()
