"""Texts of a section → the few that show most of its wordings.

Texts are alike whose clauses have the same words in the same places, where rare words (names, numbers) count as one.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence

from tasks.document.learning.clauses import clauses

_TOKEN = re.compile(r"[A-Za-z]+|[0-9０-９]+(?:[.,，．][0-9０-９]+)*|[^\sA-Za-z0-9０-９]")
_COMMON = 0.02
"""Share of the texts from which on a word is part of a wording."""
_LEAST = 3
_WORTH = 0.002
"""Share of all clauses that a further text must add."""


def by_digest(keys: Sequence[str], salt: str) -> list[str]:
    """The keys in an order that says nothing about them, and that another key does not change."""
    return sorted(keys, key=lambda key: hashlib.sha256(f"{salt}\0{key}".encode()).digest())


def telling(texts: Sequence[str], most: int) -> list[str]:
    """At most so many of the texts, chosen so that together they show as many clauses of all texts as they can."""
    wording = _wording(texts)
    parts = [[wording(text[start:end]) for start, end in clauses(text)] for text in texts]
    weight = Counter(part for own in parts for part in own)
    total = sum(weight.values())
    seen: set[str] = set()
    chosen: list[int] = []
    left = set(range(len(texts)))
    while left and len(chosen) < most:
        best = max(left, key=lambda at: (sum(weight[p] for p in set(parts[at]) - seen), -at))
        gain = sum(weight[part] for part in set(parts[best]) - seen)
        if gain < max(1, _WORTH * total) and chosen:
            break
        chosen.append(best)
        left.discard(best)
        seen |= set(parts[best])
    return [texts[at] for at in sorted(chosen)]


def _wording(texts: Sequence[str]) -> Callable[[str], str]:
    """Clause → its wording."""
    users = Counter(token for text in texts for token in set(_tokens(text)))
    least = max(_LEAST, _COMMON * len(texts))
    common = {token for token, count in users.items() if count >= least}

    def wording(clause: str) -> str:
        kept = [token if token in common else "·" for token in _tokens(clause)]
        return " ".join(token for at, token in enumerate(kept) if token != "·" or kept[at - 1 : at] != ["·"])

    return wording


def _tokens(text: str) -> list[str]:
    return ["0" if token[0].isdigit() else token.lower() for token in _TOKEN.findall(text)]
