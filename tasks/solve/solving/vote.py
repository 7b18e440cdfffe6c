"""Results of samples → the one that most agree on, and how many do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.models.query import QueryResult
from tasks.solve.solving.alike import alike

_EMPTY_WEIGHT = 0.5
"""A vote for a result without content: questions are seldom asked for nothing, and many mistakes end in nothing."""


@dataclass(frozen=True)
class Ballot:
    """What became of one sample."""

    sql: str
    """As it ran, or as it was last tried."""
    result: QueryResult | None
    """None when it did not run."""
    error: str = ""
    reasons: tuple[str, ...] = ()
    """What code mended in it."""
    greedy: bool = False
    """The sample without chance."""


def tally(ballots: Sequence[Ballot]) -> list[list[Ballot]]:
    """Ballots with results that a reader would call equal together, the winning group first; those that did not run are left out.

    Votes decide; then queries that needed no mending, the greedy sample, and the narrower result.
    """
    groups: dict[str, list[Ballot]] = {}
    for ballot in ballots:
        if ballot.result:
            groups.setdefault(ballot.result.digest, []).append(ballot)
    found: list[list[Ballot]] = []
    for group in sorted(groups.values(), key=_rank, reverse=True):
        same = next((one for one in found if _alike(one[0], group[0])), None)
        found.append(group) if same is None else same.extend(group)
    return sorted(found, key=_rank, reverse=True)


def _alike(one: Ballot, other: Ballot) -> bool:
    return bool(one.result and other.result and alike(one.result, other.result))


def speaker(group: Sequence[Ballot]) -> Ballot:
    """The query that stands for its group: of the form of result that most of it have, one that needed no mending, then the shortest."""
    forms = Counter(ballot.result.digest for ballot in group if ballot.result)

    def rank(ballot: Ballot) -> tuple[int, bool, int, str]:
        return (-forms[ballot.result.digest] if ballot.result else 0, bool(ballot.reasons), len(ballot.sql), ballot.sql)

    return min(group, key=rank)


def is_empty(result: QueryResult) -> bool:
    """No rows, or one row that holds nothing but NULL and 0."""
    return not result.row_count or (result.row_count == 1 and not any(result.rows[0] if result.rows else ()))


def _rank(group: list[Ballot]) -> tuple[float, ...]:
    result = group[0].result
    assert result
    weight = _EMPTY_WEIGHT if is_empty(result) else 1.0
    return (
        weight * len(group),
        weight * sum(not ballot.reasons for ballot in group),
        any(ballot.greedy for ballot in group),
        -len(result.columns),
    )
