"""Terms + index → columns and metrics by their names, aliases and descriptions.

The index gives candidates; here they are ranked with their tables: of two hundred columns called `price` the one counts
whose table the question names too, or whose table holds a value that the question names.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tasks.core.models.context import Hit, Terms
from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo, TableInfo
from tasks.core.search.index import Kind
from tasks.core.search.words import words
from tasks.core.sections import RecallSettings
from tasks.core.stores.protocols import TextIndex

_ADDED = 0.5
"""Weight of a word that only a model's term has, against the question's own."""
_CANDIDATES, _OF_TERM = 400, 60
"""Looked at for the question, and for one term of a model."""
_NAME, _TOLD, _VALUE = 2.0, 1.0, 2.0
"""Weight of a word in a name or alias, in a description; of a value that the table holds."""
_TABLE = 2.0
"""How much more a column counts in the best table than in one of which nothing is asked."""
_BEST = 3
"""Tables whose named columns all come before those of others: of the question with all terms, and of the terms alone."""
_UNNAMED = 0.05
"""Share of its table's score that a column has of which the question says nothing."""
_REASON_CHARS = 60

Texts = Sequence[tuple[str, str, float]]
"""Texts that may have met a term, each with what it is and its weight; those that count most come first."""


@dataclass
class Weighing:
    """What the words that are asked for are worth: rare ones more, those of the question most."""

    lookup: TextIndex
    kind: Kind
    asked: dict[str, float]
    rarity: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows, spread = self.lookup.spread(self.kind, self.asked)
        self.rarity = {word: math.log(1 + rows / count) * self.asked[word] for word, count in spread.items()}

    def found(self, texts: Texts) -> dict[str, float]:
        """Asked words that stand in the texts, each with its worth in the best place."""
        best: dict[str, float] = {}
        for _, text, weight in texts:
            for word in words(text) & self.asked.keys():
                best[word] = max(best.get(word, 0.0), self.rarity.get(word, 0.0) * weight)
        return best


def asked_words(terms: Terms, added: Sequence[str]) -> dict[str, float]:
    """Words of the question at 1, those of added terms at less."""
    return {
        **dict.fromkeys((w for term in added for w in words(term)), _ADDED),
        **dict.fromkeys(words(terms.question), 1.0),
    }


def find_columns(
    lookup: TextIndex, terms: Terms, metadata: Metadata, holding: Collection[str], settings: RecallSettings
) -> tuple[Hit, ...]:
    """Columns, best first; `holding` are ids of columns that hold a value which the question names in full."""
    columns = {column.id: column for column in metadata.columns}
    tables = {table.name: table for table in metadata.tables}
    weighing = Weighing(lookup, "column", asked_words(terms, terms.columns))
    rich = {columns[id].table for id in holding if id in columns}
    near = [column.id for column in metadata.columns if column.table in rich]
    candidates, crowded = _candidates(lookup, "column", terms, terms.columns)
    ids = dict.fromkeys([*candidates, *near])
    own = {id: weighing.found(column_texts(columns[id])) for id in ids if id in columns}
    by_table: dict[str, dict[str, float]] = defaultdict(dict)
    for id, found in own.items():
        _take_best(by_table[columns[id].table], found)
    for name, best in by_table.items():
        _take_best(best, weighing.found(table_texts(tables[name])) if name in tables else {})
    worth = {name: _sum(best) for name, best in by_table.items()}
    rows, _ = lookup.spread("column", ())
    for name in rich & worth.keys():
        worth[name] += _VALUE * math.log(1 + rows / len(rich))
    most = max(worth.values(), default=0.0) or 1.0
    scores = {
        id: _sum(found) * (1 + _TABLE * worth[columns[id].table] / most) + _UNNAMED * worth[columns[id].table]
        for id, found in own.items()
    }
    first, ahead = _best(worth), max(scores.values(), default=0.0)
    if crowded:
        said_by_terms = frozenset().union(*map(words, terms.columns))
        first |= _best({name: _sum(_only(best, said_by_terms)) for name, best in by_table.items()})
    scores |= {id: scores[id] + ahead for id in scores if own[id] and columns[id].table in first}
    said = (*terms.keywords, *terms.columns)
    best_ids = sorted((id for id in scores if scores[id] > 0), key=lambda id: -scores[id])[: settings.columns]
    return tuple(_hit(id, scores[id], said, _with_table(columns[id], tables)) for id in best_ids)


def find_metrics(lookup: TextIndex, terms: Terms, metadata: Metadata, settings: RecallSettings) -> tuple[Hit, ...]:
    """Metrics, best first."""
    metrics = {metric.id: metric for metric in metadata.metrics}
    weighing = Weighing(lookup, "metric", asked_words(terms, terms.metrics))
    ids, _ = _candidates(lookup, "metric", terms, terms.metrics)
    scores = {id: _sum(weighing.found(metric_texts(metrics[id]))) for id in ids if id in metrics}
    said = (*terms.keywords, *terms.metrics)
    best_ids = sorted((id for id in scores if scores[id] > 0), key=lambda id: -scores[id])[: settings.metrics]
    return tuple(_hit(id, scores[id], said, metric_texts(metrics[id])) for id in best_ids)


def column_texts(column: ColumnInfo) -> Texts:
    """What is said of the column itself."""
    aliases = [("alias", alias, _NAME) for alias in column.aliases]
    return [("name", column.name, _NAME), *aliases, ("description", f"{column.description} {column.unit}", _TOLD)]


def table_texts(table: TableInfo) -> Texts:
    """What is said of a table."""
    aliases = [("alias of the table", alias, _NAME) for alias in table.aliases]
    return [("table", table.name, _NAME), *aliases, ("description of the table", table.description, _TOLD)]


def metric_texts(metric: MetricInfo) -> Texts:
    """What is said of a metric."""
    aliases = [("alias", alias, _NAME) for alias in metric.aliases]
    told = [("description", metric.description, _TOLD), ("formula", metric.formula, _TOLD)]
    return [("name", metric.name, _NAME), *aliases, *told]


def reason(terms: Sequence[str], texts: Texts) -> str:
    """Which term met which text: the pair that shares most of both, a name before a description."""
    best, worth = "", 0.0
    asked = [(term, words(term)) for term in terms]
    for place, (what, text, _) in enumerate(texts):
        own = words(text)
        for term, its in asked:
            shared = len(own & its)
            if shared and (found := shared / len(its) + shared / len(own) - place / 1000) > worth:
                best, worth = f"{term[:_REASON_CHARS]!r} met {what} {text.strip()[:_REASON_CHARS]!r}", found
    return best or "its table holds what the question names"


def _candidates(lookup: TextIndex, kind: Kind, terms: Terms, added: Sequence[str]) -> tuple[dict[str, None], bool]:
    """Ids that the question finds, then those of each added term; and whether a term is in more than are taken for it.

    Then they are searched for all together as well: of hundreds of equal names that one counts which more of them meet.
    """
    asked = words(terms.question)
    found = dict.fromkeys(ref for ref, _ in lookup.search(kind, asked, _CANDIDATES))
    crowded = False
    for term in added:
        hits = lookup.search(kind, words(term), _OF_TERM)
        crowded |= len(hits) == _OF_TERM
        found |= dict.fromkeys(ref for ref, _ in hits)
    if crowded:
        every = asked.union(*map(words, added))
        found |= dict.fromkeys(ref for ref, _ in lookup.search(kind, every, _CANDIDATES))
    return found, crowded


def _best(worth: Mapping[str, float]) -> set[str]:
    """The tables that are worth most."""
    return set(sorted((name for name in worth if worth[name] > 0), key=lambda name: -worth[name])[:_BEST])


def _only(found: Mapping[str, float], kept: Collection[str]) -> dict[str, float]:
    return {word: worth for word, worth in found.items() if word in kept}


def _take_best(best: dict[str, float], found: Mapping[str, float]) -> None:
    for word, worth in found.items():
        best[word] = max(best.get(word, 0.0), worth)


def _sum(found: Mapping[str, float]) -> float:
    return math.fsum(found.values())


def _with_table(column: ColumnInfo, tables: Mapping[str, TableInfo]) -> Texts:
    return [*column_texts(column), *(table_texts(tables[column.table]) if column.table in tables else ())]


def _hit(id: str, score: float, terms: Sequence[str], texts: Texts) -> Hit:
    return Hit(id=id, score=score, why="lexical", reason=reason(terms, texts))
