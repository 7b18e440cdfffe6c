"""Text → the words by which two texts are compared: folded words and their parts, CJK bigrams.

Chinese has no spaces, so a run of it becomes its overlapping pairs and single signs; `区域名称` then meets `名称`.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUNS = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_EMPTY = """
a an and are as at be by do does each for from had has have how if in is it its list me many much not of on or per please
show tell that the their them there these they this those to was were what when where which who whom whose will with you
your give find all any also than then 的 了 在 是 和 与 及 有 请 各 为 个 中 以 按 列出 多少 哪些 什么
"""
_STOP = frozenset(_EMPTY.split())


def words(text: str) -> frozenset[str]:
    """The words of a text: lower case, `camelCase` and `snake_case` also in parts, plurals also in the singular."""
    found: set[str] = set()
    for run in _RUNS.findall(unicodedata.normalize("NFKC", text)):
        if re.match(f"[{_CJK}]", run):
            found |= {run[i : i + 2] for i in range(len(run) - 1)} if len(run) > 1 else {run}
        else:
            parts = _PARTS.findall(run)
            found |= {form for part in {run, *parts} for form in _forms(part.casefold())}
    return frozenset(found - _STOP)


def _forms(word: str) -> set[str]:
    """The word and a crude singular; both sides of a comparison are treated alike, so it need not be a word."""
    if len(word) > 4 and word.endswith("ies"):
        return {word, word[:-3] + "y"}
    if len(word) > 4 and word.endswith(("sses", "ches", "shes", "xes")):
        return {word, word[:-2]}
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return {word, word[:-1]}
    return {word}
