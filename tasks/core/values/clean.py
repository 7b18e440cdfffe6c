"""A raw text → the same text with one spelling for digits, dashes, brackets and spaces."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 200
"""Characters; a longer text is prose, not a value."""
_SUPER = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SUPER_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_MARKS = re.compile("[①-⓿❶-➓㈠-㉃㊀-㊰]")
"""Numbers of notes and lists: NFKC would join 25① to 251."""
_VULGAR = re.compile("[¼½¾⅐-⅞]")
_DASHES = str.maketrans(
    {
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "﹣": "-",
        "∼": "~", "〜": "~", "～": "~", "’": "'", "‘": "'", "【": "[", "】": "]", "∕": "/",
    }
)  # fmt: skip
_SPACE = re.compile(r"\s+")
_CJK = "〇㐀-䶿一-鿿"
_CJK_SPACE = re.compile(rf"(?<=[{_CJK}]) | (?=[{_CJK}])")
_EDGES = " \t\"'“”「」『』`*_|。，；、;,:!?"


def clean(raw: str) -> str:
    """One spelling of the text; superscripts become `^n` and `2½` becomes `2 1⁄2` before NFKC would join them."""
    if raw.isascii():
        text = raw
    else:
        text = _SUPER.sub(lambda found: "^" + found[0].translate(_SUPER_DIGITS), raw)
        text = _MARKS.sub("※", text)
        text = _VULGAR.sub(lambda found: " " + found[0], text)
        text = unicodedata.normalize("NFKC", text).translate(_DASHES)
        text = _CJK_SPACE.sub("", _SPACE.sub(" ", text))
    text = _SPACE.sub(" ", text).strip(_EDGES)
    return text[:-1] if text.endswith(".") else text
