"""Terms + index → values of the cells that the question names: whole values first, then those that share words."""

from __future__ import annotations

from pathlib import Path

from tasks.core.models.context import Hit, Terms
from tasks.core.search.lookup import Lookup
from tasks.core.search.words import fold, spans, words
from tasks.core.sections import RecallSettings

_PLACES = 5
"""Columns of one value that are hits: the same word may stand in hundreds."""
_SHARE = 0.5
"""Share of a value's words, or of a term's, that must meet."""


def find_values(path: Path, terms: Terms, settings: RecallSettings) -> tuple[Hit, ...]:
    """Values with their columns: as written in the question, then in another case or width, then in part."""
    found: list[Hit] = []
    said = (terms.question, *terms.values)
    with Lookup(path) as lookup:
        pieces = {piece: text for text in reversed(said) for piece in spans(text)}
        whole = sorted(lookup.folded(pieces), key=lambda value: (value not in terms.question, -len(value)))
        for value in whole:
            same = value in pieces[fold(value)]
            how = "stands in" if same else "in another case or width stands in"
            for id in lookup.places(value)[:_PLACES]:
                reason = f"{value!r} {how} {pieces[fold(value)]!r}"
                found.append(
                    Hit(id=id, value=value, score=2.0 + len(value) / 1000 + same, why="lexical", reason=reason)
                )
        asked = frozenset().union(*(words(text) for text in said))
        for value, score in lookup.values(asked, settings.values * 4):
            own = words(value)
            if value in whole or len(own & asked) < _SHARE * len(own):
                continue
            for id in lookup.places(value)[:_PLACES]:
                reason = f"{value!r} shares {', '.join(sorted(own & asked))} with the question"
                found.append(Hit(id=id, value=value, score=score / (1 + score), why="lexical", reason=reason))
    return tuple(found[: settings.values])
