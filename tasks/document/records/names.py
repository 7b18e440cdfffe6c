"""Lines that name no record by its id → records whose own wording they share: a short name, a person, a station.

Only words that few records have count, so that a line goes to its record and not to all records of one kind. A wrong
guess costs the tokens of a line; nothing is read from it that the model does not find there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaffA-Za-z]{2,}")
_WORD = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z'’-]{2,}")
_PAIR = re.compile(r"(?<![A-Za-z])(?=([A-Z][A-Za-z'’-]*)\.?\s+([A-Z][A-Za-z'’-]{2,}))")
_RUN = re.compile(r"(?<![A-Za-z])[A-Z][\w'’&-]*(?:[ \u00a0](?:of |and |& )?[A-Z][\w'’&-]*)+")
_RUN_WORDS = 6
_GRAMS = (4, 6, 8, 10)
"""Characters of Chinese: four hardly two records share by chance, and most short names have as many; longer ones tell
names apart that share a part."""
_RARE = 3
"""Records that may share a word before it stops telling anything."""
_SHARE = 0.6
"""Of the best record's score: from here on a record may be meant too."""
_SURE = 1.9
"""Score, about two words of its own, above which the line does not go on with the record before it."""
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SENTENCE = re.compile(r"(?<=[。；;！？!?])|(?<=[a-z0-9%)]\.)\s+")


_FULL_STOP = re.compile(r"(?<=[。！？!?])|(?<=[a-z0-9%)]\.)\s+")


class Telling(NamedTuple):
    """Words of a line that tell of a record."""

    users: int
    """Records that have them."""
    words: tuple[str, ...]


class Likeness(NamedTuple):
    """Records that a line seems to speak of."""

    records: dict[str, Telling]
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


def share(text: str, record: str, others: Iterable[str]) -> str:
    """What a text says of one of its records: from the sentence that names it to the next that names another."""
    kept, goes_on = [], False
    for part in full_sentences(text):
        if names_id(part, record):
            goes_on = True
        elif any(names_id(part, other) for other in others):
            goes_on = False
        if goes_on:
            kept.append(part)
    return " ".join(kept)


def full_sentences(text: str) -> list[str]:
    """The text cut behind what ends a sentence; a semicolon ends none."""
    return [part for part in _FULL_STOP.split(text) if part]


def names_id(text: str, record: str) -> bool:
    """Whether the id stands in the text, not within a longer one."""
    return bool(id_places(text, record))


def id_places(text: str, record: str) -> list[tuple[int, int]]:
    """Where the id stands in the text, not within a longer one; in any width."""
    return [found.span() for found in _token(record).finditer(narrow(text))]


@lru_cache(maxsize=256)
def narrow(text: str) -> str:
    """Full-width Latin letters, digits and marks as plain ones; every character keeps its place."""
    return text if text.isascii() else text.translate(_NARROW)


@lru_cache(maxsize=8192)
def _token(record: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(narrow(record))}(?![A-Za-z0-9])")


def words(text: str) -> set[str]:
    """What can tell records apart: runs of four Chinese characters, words and names with capital letters, `M. Merrick`."""
    found = set(_WORD.findall(text)) | _names(text)
    found |= {f"{first[0]}. {last}" for first, last in _PAIR.findall(text)}
    for run in _WIDE.findall(text):
        if not run.isascii():
            found |= {run[at : at + size] for size in _GRAMS for at in range(max(1, len(run) - size + 1))}
    return found


def _names(text: str) -> set[str]:
    """Names of several words with all that may stand for them: each word may be common, not the words together.

    A first word may be there because it begins the sentence, so that it counts with two more only.
    """
    found: set[str] = set()
    for run in _RUN.finditer(text):
        parts = run[0].split()
        for first in range(len(parts)):
            least = 3 if run.start() == 0 and first == 0 else 2
            for last in range(first + least, min(len(parts), first + _RUN_WORDS) + 1):
                found.add(" ".join(parts[first:last]))
    return found


def shared(text: str, line: str, found: Iterable[str]) -> str:
    """What a record is called in the line: the longest wording around one of these words that both texts have.

    Empty for a single Latin word: a first name, or a word at the start of a sentence.
    """
    best = ""
    for word in found:
        bare = word.partition(". ")[2] or word
        for one in re.finditer(re.escape(bare), text):
            for other in re.finditer(re.escape(bare), line):
                best = max(best, _widest(text, line, one.span(), other.start()), key=len)
    full = (
        re.search(rf"[A-Z][A-Za-z'’-]*\.?\s+{re.escape(best)}(?![A-Za-z])", text) if best.isascii() and best else None
    )
    name = (full[0] if full else best).strip()
    return "" if name.isascii() and " " not in name else name


def _widest(text: str, line: str, span: tuple[int, int], at: int) -> str:
    start, end = span
    left, right = at, at + end - start
    while start and left and text[start - 1] == line[left - 1] and text[start - 1].isalpha():
        start, left = start - 1, left - 1
    while end < len(text) and right < len(line) and text[end] == line[right] and text[end].isalpha():
        end, right = end + 1, right + 1
    return text[start:end]


def _best(parts: list[set[str]], users: Mapping[str, Mapping[str, None]]) -> Likeness:
    """The best of each sentence, when it has a word of its own there; else the best of all of them."""
    scores = [_score(part, users) for part in parts]
    tops = [max(score.values(), default=0.0) for score in scores]
    every = set().union(*parts)
    chosen = {
        record: _telling(record, every, users)
        for score, top in zip(scores, tops, strict=True)
        for record in sorted(score)
        if score[record] >= max(1.0, top * _SHARE)
    }
    if chosen:
        return Likeness(chosen, sure=max(tops) >= _SURE)
    total = _score(every, users)
    top = max(total.values(), default=0.0)
    alike = [record for record in sorted(total) if total[record] == top][:_RARE]
    return Likeness({record: _telling(record, every, users) for record in alike}, sure=False)


def _telling(record: str, every: set[str], users: Mapping[str, Mapping[str, None]]) -> Telling:
    """The words that the fewest other records have."""
    having = {word: len(users[word]) for word in every if record in users.get(word, ())}
    fewest = min(having.values())
    return Telling(fewest, tuple(sorted(word for word, count in having.items() if count == fewest)))


def _score(own_words: set[str], users: Mapping[str, Mapping[str, None]]) -> dict[str, float]:
    score: dict[str, float] = defaultdict(float)
    for word in sorted(own_words):
        records = users.get(word, {})
        if 0 < len(records) <= _RARE:
            for record in records:
                score[record] += 1 / len(records)
    return score
