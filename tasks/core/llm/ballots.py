"""Ballots in the order of their rounds → verdicts, and how many further rounds can still change one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks.core.models.document import Verdicts

Ballot = Mapping[str, tuple[bool, str]]
"""One round: item → whether it matters, and why. An item that is left out abstains."""
DEFAULT_REASON = "no round judged it, so it counts as relevant"
FAILED_REASON = "no round succeeded, so everything counts as relevant"


@dataclass(frozen=True)
class Count:
    """Votes for one item."""

    yes: int
    votes: int

    @property
    def relevant(self) -> bool:
        """Ties matter, and so does what was never judged."""
        return 2 * self.yes >= self.votes

    def settles_in(self, left: int) -> int:
        """Fewest of the `left` rounds after which no other can change the outcome; 0 when none can."""
        yes = max(0, -((2 * self.yes - self.votes - left) // 2))
        no = max(0, (2 * self.yes + left - self.votes) // 2 + 1)
        return min(left, yes, no)


def ballot(items: Iterable[str], told: Iterable[tuple[str, str, bool]]) -> Ballot:
    """Name, reason and verdict as replied → a ballot: exact names only; of a name that comes twice the last counts."""
    known = frozenset(items)
    return {name: (relevant, reason.strip()) for name, reason, relevant in told if name in known}


def count(item: str, ballots: Sequence[Ballot]) -> Count:
    """The votes of these rounds for one item."""
    cast = [ballot[item][0] for ballot in ballots if item in ballot]
    return Count(yes=sum(cast), votes=len(cast))


def first_rounds(rounds: int) -> int:
    """Fewest rounds that can decide anything: 3 of 5."""
    return (rounds + 1) // 2


def further_rounds(items: Iterable[str], ballots: Sequence[Ballot], rounds: int) -> int:
    """Fewest further rounds that could settle every item; 0 when no outcome can change."""
    left = max(0, rounds - len(ballots))
    return max((count(item, ballots).settles_in(left) for item in items), default=0)


def aggregate(
    items: Sequence[str], ballots: Sequence[Ballot], rounds: int, always_keep: Sequence[str] = ()
) -> Verdicts:
    """The verdicts of these rounds; without any everything is relevant."""
    counts = {item: count(item, ballots) for item in items}
    return Verdicts(
        all=tuple(items),
        per_item={item: tally.relevant for item, tally in counts.items()},
        relevant=tuple(dict.fromkeys([*(item for item in items if counts[item].relevant), *always_keep])),
        skipped=tuple(item for item in items if not counts[item].relevant),
        always_keep=tuple(always_keep),
        vote_tally={item: f"{tally.yes}/{tally.votes}" for item, tally in counts.items()},
        reasons={item: _reason(item, counts[item], ballots) for item in items},
        rounds_ok=len(ballots),
        rounds_wanted=rounds,
    )


def _reason(item: str, tally: Count, ballots: Sequence[Ballot]) -> str:
    """The first one that agrees with the outcome, else the first."""
    if not ballots:
        return FAILED_REASON
    if not tally.votes:
        return DEFAULT_REASON
    given = [ballot[item] for ballot in ballots if item in ballot and ballot[item][1]]
    agreeing = [reason for relevant, reason in given if relevant == tally.relevant]
    return (agreeing or [reason for _, reason in given] or [""])[0]
