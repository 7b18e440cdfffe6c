"""Text → the words by which two texts are compared: folded words and their parts, CJK bigrams.

Chinese has no spaces, so a run of it becomes its overlapping pairs and single signs; `区域名称` then meets `名称`.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUNS = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_UNITS = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_EDGES = re.compile(r"^\W+|\W+$")
_EMPTY = """
a an and are as at be by do does each for from had has have how if in is it its list me many much not of on or per please
show tell that the their them there these they this those to was were what when where which who whom whose will with you
your give find all any also than then 的 了 在 是 和 与 及 有 请 各 为 个 中 以 按 列出 多少 哪些 什么
"""
_STOP = frozenset(_EMPTY.split())


def words(text: str) -> frozenset[str]:
    """The words of a text: lower case, `camelCase` and `snake_case` also in parts, plurals also in the singular."""
    return frozenset(terms(text))


def terms(text: str) -> tuple[str, ...]:
    """The same words in the order of the text, repeats kept: what an index counts."""
    found: list[str] = []
    for run in _RUNS.findall(unicodedata.normalize("NFKC", text)):
        if is_cjk(run[0]):
            found += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
        else:
            for part in dict.fromkeys([run, *_PARTS.findall(run)]):
                word = part.casefold()
                found += dict.fromkeys((word, singular(word)))
    return tuple(word for word in found if word not in _STOP)


def plain(name: str) -> str:
    """A name without case, blanks and punctuation: what its spellings share."""
    return "".join(re.findall(r"[^\W_]+", name.casefold()))


def fold(text: str) -> str:
    """The text as values are compared: one width, lower case, single blanks, no signs at its ends."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _EDGES.sub("", plain) or plain


def spans(text: str, units: int = 12) -> tuple[str, ...]:
    """Folded pieces of a text that a value may be, each once: of so many whole words, or so many signs of Chinese.

    Words without meaning of their own are no pieces.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    found = [match.span() for match in _UNITS.finditer(plain)]
    pieces = (plain[start:end] for at, (start, _) in enumerate(found) for _, end in found[at : at + units])
    return tuple(dict.fromkeys(piece for piece in pieces if piece not in _STOP))


def is_cjk(sign: str) -> bool:
    """Whether this is a sign of a script without spaces."""
    return bool(re.match(f"[{_CJK}]", sign))


def singular(word: str) -> str:
    """A folded word without an English plural ending; crude, for two sides that are treated alike."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
