"""Lines that name no record by its id → records whose own wording they share: a short name, a person, a station.

Only words that few records have count, so that a line goes to its record and not to all records of one kind. A wrong
guess costs the tokens of a line; nothing is read from it that the model does not find there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaffA-Za-z]{2,}")
_WORD = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z'’-]{2,}")
_PAIR = re.compile(r"(?<![A-Za-z])(?=([A-Z][A-Za-z'’-]*)\.?\s+([A-Z][A-Za-z'’-]{2,}))")
_GRAM = 4
"""Characters of Chinese that hardly two records share by chance: most short names have as many."""
_RARE = 3
"""Records that may share a word before it stops telling anything."""
_SHARE = 0.6
"""Of the best record's score: from here on a record may be meant too."""
_SURE = 1.9
"""Score, about two words of its own, above which the line does not go on with the record before it."""
_SENTENCE = re.compile(r"(?<=[。；;！？!?])|(?<=[a-z0-9%)]\.)\s+")


class Likeness(NamedTuple):
    """Records that a line seems to speak of."""

    records: tuple[str, ...]
    sure: bool
    """Several words that only one record has: nobody else is meant."""


def belonging(lines: Mapping[int, str], own: Iterable[tuple[str, str]]) -> dict[int, Likeness]:
    """For each of the lines the records that its sentences seem to speak of; `own` is (record, its text) pairs."""
    wanted = {number: [words(part) for part in sentences(text)] for number, text in lines.items()}
    known = set().union(*(part for parts in wanted.values() for part in parts))
    users: dict[str, dict[str, None]] = defaultdict(dict)
    for record, text in own if known else ():
        for word in words(text) & known:
            users[word].setdefault(record)
    return {number: found for number, parts in wanted.items() if (found := _best(parts, users)).records}


def sentences(text: str) -> list[str]:
    """The text cut behind what ends a sentence; a point within a number or a name's initial ends none."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def words(text: str) -> set[str]:
    """What can tell records apart: runs of four Chinese characters, words with a capital letter, `M. Merrick`."""
    found = set(_WORD.findall(text))
    found |= {f"{first[0]}. {last}" for first, last in _PAIR.findall(text)}
    for run in _WIDE.findall(text):
        if not run.isascii():
            found |= {run[at : at + _GRAM] for at in range(max(1, len(run) - _GRAM + 1))}
    return found


def _best(parts: list[set[str]], users: Mapping[str, Mapping[str, None]]) -> Likeness:
    """The best of each sentence, when it has a word of its own there; else the best of all of them."""
    scores = [_score(part, users) for part in parts]
    tops = [max(score.values(), default=0.0) for score in scores]
    chosen = [
        record
        for score, top in zip(scores, tops, strict=True)
        for record in sorted(score)
        if score[record] >= max(1.0, top * _SHARE)
    ]
    if chosen:
        return Likeness(tuple(dict.fromkeys(chosen)), sure=max(tops) >= _SURE)
    total = _score(set().union(*parts), users)
    top = max(total.values(), default=0.0)
    return Likeness(tuple(record for record in sorted(total) if total[record] == top)[:_RARE], sure=False)


def _score(own_words: set[str], users: Mapping[str, Mapping[str, None]]) -> dict[str, float]:
    score: dict[str, float] = defaultdict(float)
    for word in sorted(own_words):
        records = users.get(word, {})
        if 0 < len(records) <= _RARE:
            for record in records:
                score[record] += 1 / len(records)
    return score
