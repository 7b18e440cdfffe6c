"""Question + profile + knowledge → tables and columns, best first, by shared words.

Rare words weigh more, as usual in retrieval; a name counts more than a meaning, a value that stands in the
question counts like a name.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, Profile
from tasks.core.models.semantics import Knowledge
from tasks.core.search.words import words

_TABLE_NAME, _COLUMN_NAME, _VALUE, _MEANING = 3.0, 2.0, 2.0, 1.0
_BY_METRIC = 0.5
"""Weight of a word that only the formula of a metric of the question has."""
_BRIDGE = 3
"""Longest chain of joins that is completed between two tables of the question."""


@dataclass(frozen=True)
class Ranking:
    """Tables best first; scores by table, and by table and column. Names are canonical."""

    order: tuple[str, ...]
    tables: dict[str, float]
    columns: dict[str, dict[str, float]]


def rank(question: str, profile: Profile, knowledge: Knowledge) -> Ranking:
    """Score every table and column; equal scores keep the profile's order."""
    asked = weights(question, knowledge)
    hits = {table.name: {c.name: _column_hits(c, asked) for c in table.columns} for table in profile.tables}
    named = {table.name: _found(table.name, asked) for table in profile.tables}
    spread: Counter[str] = Counter()
    for name, columns in hits.items():
        spread.update(named[name].union(*columns.values()))
    rarity = {word: math.log(1 + len(hits) / count) * asked[word] for word, count in spread.items()}
    columns_by_table = {
        name: {column: sum(rarity[w] * weight for w, weight in found.items()) for column, found in columns.items()}
        for name, columns in hits.items()
    }
    tables = {name: _table_score(named[name], columns, rarity) for name, columns in hits.items()}
    order = sorted(tables, key=lambda name: -tables[name])
    return Ranking(tuple(order), tables, columns_by_table)


def weights(question: str, knowledge: Knowledge) -> dict[str, float]:
    """The words of the question at 1, and those of the formulas of metrics that it names at less."""
    asked = words(question)
    found = dict.fromkeys(asked, 1.0)
    for metric in knowledge.metrics:
        name = words(metric.name)
        if name and name <= asked:
            for word in words(f"{metric.formula} {metric.meaning}"):
                found.setdefault(word, _BY_METRIC)
    return found


def choose(ranking: Ranking, joins: tuple[JoinCandidate, ...], limit: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """At most `limit` tables: those of the question, best first, and others, those that join them first.

    A table of the question brings the tables that join it to the ones before it, while there is room.
    """
    neighbours = _neighbours(joins)
    matched: list[str] = []
    for name in ranking.order:
        if len(matched) >= limit or not ranking.tables[name]:
            break
        if name not in matched:
            path = _path(matched, name, neighbours)
            matched += path if len(matched) + len(path) <= limit else [name]
    near = {other for name in matched for other in neighbours.get(name, [])}
    others = sorted((name for name in ranking.order if name not in matched), key=lambda name: name not in near)
    return tuple(matched), tuple(others[: limit - len(matched)])


def _found(text: str, asked: dict[str, float]) -> frozenset[str]:
    """Words of the text that are asked for; a cheap look first, for there may be many texts."""
    if not text or (text.isascii() and not any(word[:3] in text.casefold() for word in asked)):
        return frozenset()
    return words(text) & asked.keys()


def _column_hits(column: ColumnProfile, asked: dict[str, float]) -> dict[str, float]:
    """The asked words that the column has, each with the weight of the best place."""
    found: dict[str, float] = {}
    for text, weight in (
        (column.name, _COLUMN_NAME),
        ("\n".join(column.examples) if column.type == "VARCHAR" else "", _VALUE),
        (column.meaning, _MEANING),
    ):
        for word in _found(text, asked):
            found.setdefault(word, weight)
    return found


def _table_score(named: frozenset[str], columns: dict[str, dict[str, float]], rarity: dict[str, float]) -> float:
    best = dict.fromkeys(named, _TABLE_NAME)
    for found in columns.values():
        for word, weight in found.items():
            best[word] = max(best.get(word, 0.0), weight)
    return sum(rarity[word] * weight for word, weight in sorted(best.items()))


def _neighbours(joins: tuple[JoinCandidate, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for join in sorted(joins, key=lambda join: (not join.stated, -join.match_rate)):
        for one, other in ((join.left_table, join.right_table), (join.right_table, join.left_table)):
            if one != other and other not in found[one]:
                found[one].append(other)
    return found


def _path(chosen: list[str], name: str, neighbours: dict[str, list[str]]) -> list[str]:
    """The table, after those between it and the chosen ones by the shortest chain of joins, if a short one exists."""
    if not chosen:
        return [name]
    trails = [[name]]
    seen = {name}
    for _ in range(_BRIDGE):
        longer = []
        for trail in trails:
            for following in neighbours.get(trail[-1], []):
                if following in chosen:
                    return trail[::-1]
                if following not in seen:
                    seen.add(following)
                    longer.append([*trail, following])
        trails = longer
    return [name]
