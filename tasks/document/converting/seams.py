"""Two lines of a paragraph → one: with a space or without, broken words mended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from tasks.document.converting.segment import CJK

_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_BROKEN = re.compile(r"([^\W\d_]+)[-‐]$")
_MOSTLY = 0.3
"""Text with this share of Chinese, Japanese or Korean characters is written without spaces."""
_OPEN_CLOSED = "，。、；：？！）】》」』”’（【《「『“‘…—·％"


class Words:
    """The words of a document, by which broken ones are judged."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._seen: Counter[str] = Counter()
        after = False
        for text in texts:
            words = [word.lower() for word in _WORD.findall(text)]
            broken = bool(_BROKEN.search(text.rstrip()))
            self._seen.update(words[after : len(words) - broken])  # the parts of a broken word are no words
            after = broken

    def mend(self, left: str, right: str) -> str:
        """`infra-` + `structure` → `infrastructure`, `well-` + `known` → `well-known`, by what the document writes."""
        if left + right in self._seen:
            return left + right
        if f"{left}-{right}" in self._seen or (self._seen[left] and self._seen[right]):
            return f"{left}-{right}"
        return left + right


def join(left: str, right: str, words: Words) -> str:
    """The text of two lines that follow each other in one paragraph."""
    left, right = left.rstrip(), right.lstrip()
    if not left or not right:
        return left + right
    if left.endswith("\u00ad"):
        return left[:-1] + right
    if broken := _BROKEN.search(left):
        after = re.match(r"[^\W\d_]+", right)
        if after and after[0][0].islower():
            mended = words.mend(broken[1].lower(), after[0].lower())
            kept = left if "-" in mended else left[:-1]
            return kept + right
        return left + right
    if re.search(r"\w[-‐]$", left) and right[0].isalnum():
        return left + right
    return left + _gap(left, right) + right


def _gap(left: str, right: str) -> str:
    before, after = _is_wide(left[-1]), _is_wide(right[0])
    if before and after:
        return ""
    dense = is_dense(left + right)
    if before or after:
        return "" if dense else " "
    number = left[-1] in "0123456789.,-/" and right[0] in "0123456789.,%-/"
    return "" if dense and number else " "


def is_dense(text: str) -> bool:
    """Whether the text is mainly Chinese, Japanese or Korean, which do not part words by spaces."""
    letters = sum(character.isalpha() for character in text)
    wide = len(CJK.findall(text))
    return wide > 0 and wide >= _MOSTLY * max(letters, 1)


def _is_wide(character: str) -> bool:
    return bool(CJK.match(character)) or character in _OPEN_CLOSED
