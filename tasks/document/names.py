"""Lines that name no record by its id → records whose own wording they share: a short name, a person, a station.

Only words that few records have count, so that a line goes to its record and not to all records of one kind. A wrong
guess costs the tokens of a line; nothing is read from it that the model does not find there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaffA-Za-z]{2,}")
_WORD = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z'’-]{2,}")
_GRAM = 4
"""Characters of Chinese that hardly two records share by chance: most short names have as many."""
_RARE = 3
"""Records that may share a word before it stops telling anything."""


def belonging(lines: Mapping[int, str], own: Iterable[tuple[str, str]]) -> dict[int, tuple[str, ...]]:
    """For each of the lines the records that it seems to speak of, at most three; `own` is (record, its text) pairs."""
    wanted = {number: words(text) for number, text in lines.items()}
    known = set().union(*wanted.values()) if wanted else set()
    if not known:
        return {}
    users: dict[str, dict[str, None]] = defaultdict(dict)
    for record, text in own:
        for word in words(text) & known:
            users[word].setdefault(record)
    return {number: found for number, own_words in wanted.items() if (found := _best(own_words, users))}


def words(text: str) -> set[str]:
    """What can tell records apart: runs of four Chinese characters, and words with a capital letter."""
    found = set(_WORD.findall(text))
    for run in _WIDE.findall(text):
        if not run.isascii():
            found |= {run[at : at + _GRAM] for at in range(max(1, len(run) - _GRAM + 1))}
    return found


def _best(own_words: set[str], users: Mapping[str, Mapping[str, None]]) -> tuple[str, ...]:
    score: dict[str, float] = defaultdict(float)
    for word in sorted(own_words):
        records = users.get(word, {})
        if 0 < len(records) <= _RARE:
            for record in records:
                score[record] += 1 / len(records)
    if not score:
        return ()
    best = max(score.values())
    ranked = sorted(score, key=lambda record: (-score[record], record))
    return tuple(record for record in ranked if score[record] >= min(1.0, best))[:_RARE]
