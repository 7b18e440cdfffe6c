"""Which result wins a vote, and which query stands for it."""

from __future__ import annotations

import pytest

from tasks.core.models.query import QueryResult
from tasks.solve.solving.vote import Ballot, is_empty, speaker, tally


def result(*rows: tuple[object, ...], columns: int = 1) -> QueryResult:
    return QueryResult.model_validate(
        {
            "columns": tuple(f"c{i}" for i in range(columns)),
            "types": ("BIGINT",) * columns,
            "rows": rows,
            "row_count": len(rows),
            "truncated": False,
            "digest": repr(rows),
            "seconds": 0,
        }
    )


ONE, TWO, WIDE, NONE, NULL = result((1,)), result((2,)), result((1, 2), columns=2), result(), result((None,))


@pytest.mark.parametrize(
    ("ballots", "winner", "votes"),
    [
        ([Ballot("a", ONE), Ballot("b", TWO), Ballot("c", TWO)], TWO, 2),
        ([Ballot("a", NONE), Ballot("b", NONE), Ballot("c", TWO), Ballot("d", TWO)], TWO, 2),
        ([Ballot("a", NONE), Ballot("b", NONE), Ballot("c", NONE), Ballot("d", TWO)], NONE, 3),
        ([Ballot("a", NULL), Ballot("b", TWO)], TWO, 1),
        ([Ballot("a", ONE, reasons=("mended",)), Ballot("b", TWO)], TWO, 1),
        ([Ballot("a", ONE), Ballot("b", TWO, greedy=True)], TWO, 1),
        ([Ballot("a", WIDE), Ballot("b", ONE)], ONE, 1),
        ([Ballot("a", None, "error"), Ballot("b", None, "error"), Ballot("c", ONE)], ONE, 1),
    ],
    ids=["most", "content", "many for nothing", "null", "unmended", "greedy", "narrow", "errors do not vote"],
)
def test_the_winner(ballots: list[Ballot], winner: QueryResult, votes: int) -> None:
    first = tally(ballots)[0]
    assert first[0].result == winner and len(first) == votes
    assert tally(list(reversed(ballots)))[0][0].result == winner


def test_nothing_ran() -> None:
    assert tally([Ballot("a", None, "error")]) == []


def test_the_shortest_query_that_needed_no_mending_speaks() -> None:
    group = [Ballot("a", ONE, reasons=("mended",)), Ballot("bbb", ONE), Ballot("cc", ONE)]
    assert speaker(group).sql == "cc"


@pytest.mark.parametrize(
    ("made", "empty"), [(NONE, True), (NULL, True), (result((0,)), True), (ONE, False), (result((0,), (0,)), False)]
)
def test_a_result_without_content(made: QueryResult, empty: bool) -> None:
    assert is_empty(made) == empty
