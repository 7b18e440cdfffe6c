"""Tables of a profile → those that a search means, best first, and why; their texts are cut into words once.

A search means a table that it names or describes, that gives columns to a metric which it names, or that holds a value
which stands in it as a whole: `华北` finds the table of regions, `GMV` the one that it is computed from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tasks.core.models.catalogue import TableProfile
from tasks.core.models.metadata import MetricInfo
from tasks.core.search.lookup import Lookup
from tasks.core.search.words import fold, spans, words
from tasks.solve.recalling.values import named_in

_VALUE_CHARS = 40
"""Signs of a value in a reason."""
_MANY = 20
"""Tables that hold a value beyond which it does not say which of them is meant."""


class _Met(NamedTuple):
    """Something that stands in a search: its words, and what to say of it by place of a table."""

    words: frozenset[str]
    places: dict[int, str]


class Searching:
    """What thousands of tables say, ready to be searched again and again."""

    def __init__(self, tables: Sequence[TableProfile], metrics: Sequence[MetricInfo] = (), index: Path | None = None):
        """`index`: the file of the search index; without it the tables' examples stand for their values."""
        self.of = tables
        self._index = index
        self._place = {table.name: at for at, table in enumerate(tables)}
        self._named: dict[str, set[int]] = defaultdict(set)
        self._said: dict[str, set[int]] = defaultdict(set)
        """Places of the tables, by a word of what they are called, and of all that is said of them."""
        self._texts: list[str] = []
        self._metrics = metrics
        self._examples: dict[str, dict[str, set[str]]] | None = None
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

    def best_first(self, search: str) -> dict[str, list[str]]:
        """Names of the tables that a search means, each with the metrics and values that it is found by.

        By what they are called, what is computed from them and what they hold, then by all that is said; rare words count more.
        """
        asked, whole = sorted(words(search)), search.strip().casefold()
        named, said = self._worth(asked, self._named), self._worth(asked, self._said)
        holding = {at for at, text in enumerate(self._texts) if whole in text}
        why: dict[int, list[str]] = defaultdict(list)
        for found in (*self._computed(search), *self._held(search)):
            known = found.words <= self._named.keys()  # a table that is called so is rather meant
            for at, reason in found.places.items():
                named[at] += 0.0 if known else self._rarity(len(found.places))
                why[at].append(reason)
        ranked = [
            (self.of[at].name.casefold() != whole, -named.get(at, 0.0), at not in holding, -said.get(at, 0.0), at)
            for at in {*said, *named, *holding}
        ]
        return {self.of[at].name: why[at] for *_, at in sorted(ranked)}

    def _computed(self, search: str) -> Iterator[_Met]:
        """Metrics that are named in full."""
        asked = words(search)
        for metric in self._metrics:
            tables = dict.fromkeys(id.rpartition(".")[0] for id in metric.columns)
            met = [own for name in (metric.name, *metric.aliases) if (own := words(name)) and own <= asked]
            if met and (places := {self._place[name] for name in tables if name in self._place}):
                yield _Met(max(met, key=len), dict.fromkeys(places, f"gives {metric.name}"))

    def _held(self, search: str) -> Iterator[_Met]:
        """Values that stand in the search as a whole, but for those that many tables hold: they tell none apart."""
        for value, ids in self._values(search).items():
            places = {}
            for id in sorted(ids):
                table, _, column = id.rpartition(".")
                if table in self._place:
                    places[self._place[table]] = f"{column} holds {value[:_VALUE_CHARS]!r}"
            if len(places) <= _MANY:
                yield _Met(words(value), places)

    def _values(self, search: str) -> Mapping[str, Collection[str]]:
        """With the ids of the columns that hold each."""
        if self._index:
            with Lookup(self._index) as lookup:
                return named_in(lookup, search)
        if self._examples is None:
            self._examples = defaultdict(dict)
            for table in self.of:
                for column in table.columns:
                    for value in column.examples if column.type == "VARCHAR" else ():
                        self._examples[fold(value)].setdefault(value, set()).add(f"{table.name}.{column.name}")
        return {value: ids for piece in spans(search) for value, ids in self._examples.get(piece, {}).items()}

    def _rarity(self, count: int) -> float:
        return math.log(1 + len(self.of) / count) if count else 0.0

    def _worth(self, asked: Iterable[str], places: Mapping[str, set[int]]) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        for word in asked:
            its = places.get(word, set())
            for at in its:
                found[at] += self._rarity(len(its))
        return found
