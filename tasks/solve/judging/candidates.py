"""what was recalled + profile → tables, the likeliest first, for when one prompt cannot hold them all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.core.models.catalogue import Profile
from tasks.core.models.context import Recalled
from tasks.core.models.metadata import Metadata
from tasks.core.models.semantics import Knowledge
from tasks.solve.judging.rank import rank

_SOFT = 10
"""Added to a hit's rank before it is inverted: the first hit of a kind counts about twice as much as the tenth."""


@dataclass(frozen=True)
class Candidates:
    """Canonical names."""

    order: tuple[str, ...]
    """All tables: those with a hit, those that join one, then by the words of the question."""
    found: frozenset[str]
    """Those with a hit, and those that join one."""


def candidates(
    question: str, profile: Profile, knowledge: Knowledge, recalled: Recalled, about: Metadata
) -> Candidates:
    """Rank all tables of the profile; equal ones keep its order."""
    tables = {f"{table.name}.{column.name}": table.name for table in profile.tables for column in table.columns}
    worth: dict[str, float] = defaultdict(float)
    for place, ids in _hits(recalled, about):
        for name in {tables[id] for id in ids if id in tables}:
            worth[name] += 1 / (_SOFT + place)
    near: dict[str, float] = defaultdict(float)
    for join in profile.joins:
        for one, other in ((join.left_table, join.right_table), (join.right_table, join.left_table)):
            if one not in worth:
                near[one] = max(near[one], worth.get(other, 0.0))
    joined = {name for name, value in near.items() if value}
    by_words = rank(question, profile, knowledge).order
    order = sorted(by_words, key=lambda name: (-worth.get(name, 0.0), -near.get(name, 0.0)))
    return Candidates(tuple(order), frozenset(worth) | joined)


def _hits(recalled: Recalled, about: Metadata) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Place of each hit among those of its kind, and the ids of the columns that it stands for."""
    needs = {metric.id: metric.columns for metric in about.metrics}
    for kind in (recalled.columns, recalled.values):
        yield from ((place, (hit.id,)) for place, hit in enumerate(kind))
    yield from ((place, needs.get(hit.id, ())) for place, hit in enumerate(recalled.metrics))
