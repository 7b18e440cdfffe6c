"""Terms + index → values of the cells that the question names: whole values first, then those that share words."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.core.models.context import Hit, Terms
from tasks.core.search.words import fold, spans, words
from tasks.core.sections import RecallSettings
from tasks.core.stores.protocols import TextIndex

WHOLE = 1.0
"""Least score of a value that the question names in full."""
_PLACES = 5
"""Columns of one value that are hits: the same word may stand in hundreds."""
_SHARE = 0.6
"""Share of a value's words that must meet, where it is not named in full."""


def find_values(lookup: TextIndex, terms: Terms, settings: RecallSettings) -> tuple[Hit, ...]:
    """Values with their columns: as written in the question, then in another case or width, then in part."""
    found = [*_whole(lookup, terms)]
    whole = {hit.value for hit in found}
    asked = frozenset().union(*(words(text) for text in (terms.question, *terms.values)))
    for value, score in lookup.values(asked, settings.values * 4) if len(found) < settings.values else ():
        own = words(value)
        share = len(own & asked) / len(own)
        if value in whole or share < _SHARE:
            continue
        reason = f"{value!r} shares {', '.join(sorted(own & asked))} with the question"
        score = share * score / (1 + score)
        found += [
            Hit(id=id, value=value, score=score, why="lexical", reason=reason) for id in lookup.places(value)[:_PLACES]
        ]
    return tuple(sorted(found, key=lambda hit: -hit.score)[: settings.values])


def pieces(terms: Terms) -> dict[str, str]:
    """Folded texts that a value may be, each with the text that it stands in."""
    said = (terms.question, *terms.values)
    return {piece: text for text in reversed(said) for piece in spans(text)}


def grade(value: str, text: str) -> tuple[float, str]:
    """Score and reason of a value that stands in a text as a whole: as written before folded, long before short."""
    same = value in text
    how = "stands in" if same else "in another case or width stands in"
    return WHOLE + same + min(len(fold(value)), 90) / 100, f"{value!r} {how} {text[:60]!r}"


def named_in(lookup: TextIndex, text: str) -> dict[str, list[str]]:
    """Values that stand in a text as a whole, each with the ids of all columns that hold it."""
    return {value: lookup.places(value) for value in lookup.folded(spans(text))}


def _whole(lookup: TextIndex, terms: Terms) -> Iterator[Hit]:
    places = pieces(terms)
    for value in lookup.folded(places):
        score, reason = grade(value, places[fold(value)])
        for id in lookup.places(value)[:_PLACES]:
            yield Hit(id=id, value=value, score=score, why="lexical", reason=reason)
