"""Tables of a query + a wanted table + measured links → the one chain of joins between them, if one is the best."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tasks.core.models.catalogue import JoinCandidate

_HOPS = 2
"""Longest chain."""


@dataclass(frozen=True)
class Way:
    """Links from a start to a table, each turned so that it leads on from left to right."""

    start: str
    links: tuple[JoinCandidate, ...] = ()

    @property
    def end(self) -> str:
        """The last table."""
        return self.links[-1].right_table if self.links else self.start

    @property
    def passed(self) -> set[str]:
        """All tables of the way."""
        return {self.start, *(link.right_table for link in self.links)}

    @property
    def cost(self) -> tuple[float, ...]:
        """Smaller is better: links that the knowledge states, that names speak for, that do not multiply rows, that match."""
        return (
            sum(not link.stated for link in self.links),
            sum(not _related(link) for link in self.links),
            sum(not (link.right_unique or link.left_unique) for link in self.links),
            -round(sum(link.match_rate for link in self.links), 3),
        )


def best_way(starts: Sequence[str], ends: Collection[str], links: Sequence[JoinCandidate]) -> Way | None:
    """The best of the shortest ways; None when there is none, or another one is as good."""
    both = [*links, *map(_turned, links)]
    ways = [Way(start) for start in dict.fromkeys(starts)]
    for _ in range(_HOPS):
        ways = [
            Way(way.start, (*way.links, link))
            for way in ways
            for link in both
            if link.left_table == way.end and link.right_table not in way.passed
        ]
        if found := sorted((way for way in ways if way.end in ends), key=lambda way: way.cost):
            return found[0] if len(found) == 1 or found[0].cost < found[1].cost else None
    return None


def _related(link: JoinCandidate) -> bool:
    """Whether the columns share a name, or one of them begins with the name of the other's table."""
    left, right = link.left_column.casefold(), link.right_column.casefold()
    return (
        left == right
        or left.startswith(link.right_table.casefold().rstrip("s"))
        or right.startswith(link.left_table.casefold().rstrip("s"))
    )


def _turned(link: JoinCandidate) -> JoinCandidate:
    return link.model_copy(
        update={
            "left_table": link.right_table,
            "left_column": link.right_column,
            "right_table": link.left_table,
            "right_column": link.left_column,
            "left_unique": link.right_unique,
            "right_unique": link.left_unique,
        }
    )
