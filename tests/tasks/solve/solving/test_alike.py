"""Which results a reader would call the same table."""

from __future__ import annotations

import pytest

from tasks.core.models.query import QueryResult
from tasks.solve.solving.alike import alike
from tasks.solve.solving.vote import Ballot, speaker, tally


def result(*rows: tuple[object, ...], count: int | None = None) -> QueryResult:
    width = len(rows[0]) if rows else 1
    return QueryResult.model_validate(
        {
            "columns": tuple(f"c{i}" for i in range(width)),
            "types": ("VARCHAR",) * width,
            "rows": rows,
            "row_count": len(rows) if count is None else count,
            "truncated": False,
            "digest": repr(rows),
            "seconds": 0,
        }
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (result(("NL", 4650.5), ("AT", 1110.1)), result((1110.1, "AT"), (4650.5, "NL")), True),
        (result(("NL", 1), ("AT", 2)), result(("NL", 2), ("AT", 1)), False),
        (result((1, 2), (2, 1)), result((1, 1), (2, 2)), False),
        (result((16.666666,)), result((16.666666666666668,)), True),
        (result((16.67,), (50.0,)), result((16.666666666666668,), (50.0,)), True),
        (result((16.7,)), result((16.67,)), True),
        (result((17,)), result((16.67,)), False),
        (result((16.6,)), result((16.67,)), False),
        (result((1,)), result((1.0,)), True),
        (result((1000001,)), result((1000002,)), False),
        (result(("1",)), result((1,)), False),
        (result((True,)), result((1,)), False),
        (result((None,)), result((0,)), False),
        (result((None,), ("a",)), result(("a",), (None,)), True),
        (result(("a",)), result(("a", 1)), False),
        (result(("a",), ("a",)), result(("a",)), False),
        (result(("北京", 3), ("上海", 5)), result((5, "上海"), (3, "北京")), True),
        (result(("a", 1), count=9), result((1, "a"), count=9), False),
    ],
    ids=str,
)
def test_the_same_table_in_another_form(one: QueryResult, other: QueryResult, same: bool) -> None:
    assert (alike(one, other), alike(other, one)) == (same, same)


def test_forms_of_one_table_vote_together_and_the_most_frequent_form_speaks() -> None:
    turned, straight, third = result((4.5, "NL")), result(("NL", 4.5)), result(("NL", 9.5))
    ballots = [
        Ballot("x", third),
        Ballot("x2", third),
        Ballot("a", turned),
        Ballot("bb", straight),
        Ballot("ccc", straight),
    ]
    groups = tally(ballots)
    assert [len(group) for group in groups] == [3, 2] and speaker(groups[0]).sql == "bb"
