"""question → its keywords: what stands between words without meaning of their own, the whole question last.

There is no dictionary of Chinese here: a run of it is cut at function words and after verbs of asking, and a long rest by
the names and values that the caller knows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from tasks.core.search.words import is_cjk, words

_PIECES = re.compile(r"\d[\d.,:/-]*\d?[年月日号季周%]?|[^\W\da-zA-Z_]+|[\w&'’./-]+")
"""Numbers with their sign, runs of Chinese and other letters, Latin words."""
_CUTS = re.compile(
    r"(?P<verb>统计|查询|计算|求出|列出|找出|查看|显示|请问|分析|对比|比较|汇总)"
    r"|多少|哪些|哪个|哪家|哪位|什么|如何|怎样|怎么|其中|以及|并且|或者|是否|有没有|每个|各个|各自|分别"
    r"|(?<!目)的|了(?!解)|是|(?<!总)和|(?<!参)与|(?<![涉普])及(?!格)|各|每|请|吗|呢"
)
_LONG = 6
"""Signs of Chinese beyond which a run is hardly one word."""
_KEPT = 24


def keywords(question: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Keywords in the order of the question, then the whole question; `known` are names, aliases and values."""
    text = " ".join(unicodedata.normalize("NFKC", question).split())
    names = known if isinstance(known, frozenset) else frozenset(known)
    found: list[str] = []
    end = -1
    for match in _PIECES.finditer(text):
        piece = match[0].strip(".'’-/,:")
        if is_cjk(match[0][0]):
            found += _chinese(piece, names)
        elif words(piece):
            joins = end >= 0 and text[end : match.start()] == " " and found and not is_cjk(found[-1][0])
            found = [*found[:-1], f"{found[-1]} {piece}"] if joins else [*found, piece]
        end = match.end() if words(piece) and piece == match[0] else -1
    whole = question.strip()
    kept = [word for word in dict.fromkeys(found) if word and word != whole]
    return (*kept[:_KEPT], *([whole] if whole else []))


def _chinese(run: str, names: Collection[str]) -> list[str]:
    found: list[str] = []
    start = 0
    for match in _CUTS.finditer(run):
        found += _parts(run[start : match.start()], names)
        found += [match[0]] * bool(match["verb"])
        start = match.end()
    return [word for word in found + _parts(run[start:], names) if len(word) > 1 or word in names]


def _parts(run: str, names: Collection[str], longest: int = _LONG) -> list[str]:
    """The run, or for a long one the longest known names in it and what lies between them."""
    if len(run) <= longest or run in names:
        return [run] * bool(run)
    for size in range(len(run) - 1, 1, -1):
        for start in range(len(run) - size + 1):
            if (name := run[start : start + size]) in names:
                return [*_parts(run[:start], names, 0), name, *_parts(run[start + size :], names, 0)]
    return [run]
