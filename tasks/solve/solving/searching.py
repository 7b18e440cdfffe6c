"""Tables of a profile → those that a search means, best first; their texts are cut into words once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tasks.core.models.catalogue import TableProfile
from tasks.core.search.words import words


class Searching:
    """What thousands of tables say, ready to be searched again and again."""

    def __init__(self, tables: Sequence[TableProfile]) -> None:
        self.of = tables
        self._named: dict[str, set[int]] = defaultdict(set)
        self._said: dict[str, set[int]] = defaultdict(set)
        """Places of the tables, by a word of what they are called, and of all that is said of them."""
        self._texts: list[str] = []
        cut: dict[str, frozenset[str]] = {}
        for at, table in enumerate(tables):
            texts = (table.name, table.origin, table.about, *(f"{c.name} {c.meaning}" for c in table.columns))
            self._texts.append("\n".join(texts).casefold())
            for word in words(f"{table.name} {table.about}"):
                self._named[word].add(at)
            for text in texts:  # thousands of tables share names of columns
                found = cut[text] if text in cut else cut.setdefault(text, words(text))
                for word in found:
                    self._said[word].add(at)

    def best_first(self, search: str) -> list[TableProfile]:
        """Tables that share a word with it or contain it: by what they are called, then by all; rare words count more."""
        asked, whole = sorted(words(search)), search.strip().casefold()
        named, said = self._worth(asked, self._named), self._worth(asked, self._said)
        holding = {at for at, text in enumerate(self._texts) if whole in text}
        ranked = [
            (self.of[at].name.casefold() != whole, -named.get(at, 0.0), at not in holding, -said.get(at, 0.0), at)
            for at in {*said, *named, *holding}
        ]
        return [self.of[at] for *_, at in sorted(ranked)]

    def _worth(self, asked: Iterable[str], places: dict[str, set[int]]) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        for word in asked:
            its = places.get(word, ())
            rarity = math.log(1 + len(self.of) / len(its)) if its else 0.0
            for at in its:
                found[at] += rarity
        return found
