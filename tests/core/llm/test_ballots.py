"""Aggregation of ballots, and the proof that stopping early gives what all rounds would have given."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.llm import ballots
from tasks.core.llm.ballots import Ballot

ITEMS = ("a", "b", "c")
BALLOT = st.dictionaries(st.sampled_from(ITEMS), st.tuples(st.booleans(), st.sampled_from(["", "r1", "r2"])))


def votes(item: str, yes: int, no: int) -> list[Ballot]:
    return [{item: (True, "yes")}] * yes + [{item: (False, "no")}] * no


@settings(max_examples=600, deadline=None)
@given(
    rounds=st.integers(1, 9),
    cast=st.lists(BALLOT, min_size=9, max_size=9),
    fails=st.lists(st.integers(0, 9), min_size=30, max_size=30),
)
def test_an_early_stop_is_equal_to_the_full_vote_in_index_order(
    rounds: int, cast: list[Ballot], fails: list[int]
) -> None:
    full = ballots.aggregate(ITEMS, cast[:rounds], rounds)
    asked: list[Ballot] = []
    needed, batch = ballots.first_rounds(rounds), 0
    while needed:
        succeeded = max(0, needed - fails[batch]) if batch < 29 else needed
        asked = cast[: len(asked) + succeeded]
        needed = ballots.further_rounds(ITEMS, asked, rounds)
        batch += 1
    assert len(asked) <= rounds
    early = ballots.aggregate(ITEMS, asked, rounds)
    assert early.per_item == full.per_item
    assert early.relevant == full.relevant and early.skipped == full.skipped


@settings(max_examples=200, deadline=None)
@given(rounds=st.integers(1, 9), cast=st.lists(BALLOT, max_size=9))
def test_no_round_is_asked_that_can_change_nothing(rounds: int, cast: list[Ballot]) -> None:
    cast = cast[:rounds]
    left = rounds - len(cast)
    now = ballots.aggregate(ITEMS, cast, rounds).per_item
    more = [
        ballots.aggregate(ITEMS, cast + [dict.fromkeys(ITEMS, (judged, ""))] * left, rounds).per_item
        for judged in (True, False)
    ]
    open_items = [item for item in ITEMS if any(other[item] != now[item] for other in more)]
    assert bool(ballots.further_rounds(ITEMS, cast, rounds)) == bool(open_items)


@pytest.mark.parametrize(
    ("yes", "no", "relevant", "tally"),
    [(3, 2, True, "3/5"), (2, 3, False, "2/5"), (2, 2, True, "2/4"), (1, 1, True, "1/2"), (1, 0, True, "1/1"),
     (0, 1, False, "0/1"), (5, 0, True, "5/5"), (4, 1, True, "4/5"), (1, 4, False, "1/5")],
)  # fmt: skip
def test_an_item_is_relevant_when_half_of_its_votes_say_so(yes: int, no: int, relevant: bool, tally: str) -> None:
    verdicts = ballots.aggregate(("a",), votes("a", yes, no), 5)
    assert verdicts.per_item == {"a": relevant} and verdicts.vote_tally == {"a": tally}


def test_a13_b2_the_worked_example_of_three_documents_and_one_that_is_always_kept() -> None:
    items = ("company_financials", "company_profile", "employee_attendance")
    tallies = {"company_financials": 5, "company_profile": 4, "employee_attendance": 1}
    cast: list[Ballot] = [
        {item: (number < yes, f"{item} {number}") for item, yes in tallies.items()} for number in range(5)
    ]
    verdicts = ballots.aggregate(items, cast, 5, always_keep=("doc_company_rules",))
    assert verdicts.vote_tally == {
        "company_financials": "5/5",
        "company_profile": "4/5",
        "employee_attendance": "1/5",
    }
    assert verdicts.relevant == ("company_financials", "company_profile", "doc_company_rules")
    assert verdicts.skipped == ("employee_attendance",) and verdicts.all == items
    assert verdicts.per_item == {
        "company_financials": True,
        "company_profile": True,
        "employee_attendance": False,
    }
    assert verdicts.reasons["employee_attendance"] == "employee_attendance 1"
    assert (verdicts.rounds_ok, verdicts.rounds_wanted, verdicts.error) == (5, 5, "")


@pytest.mark.parametrize(("rounds", "first"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (7, 4), (9, 5)])
def test_the_first_batch_is_the_fewest_rounds_that_can_decide(rounds: int, first: int) -> None:
    assert ballots.first_rounds(rounds) == first
    assert ballots.further_rounds(("a",), votes("a", first, 0), rounds) == 0


def test_names_that_are_not_on_the_slate_are_ignored_and_a_repeated_name_keeps_its_last_verdict() -> None:
    told = [("a", "first", False), ("A", "other case", True), ("new", "", True), ("a", " last ", True)]
    assert ballots.ballot(("a", "b"), told) == {"a": (True, "last")}


def test_an_item_that_no_round_judged_is_relevant_by_default_and_says_so() -> None:
    verdicts = ballots.aggregate(("a", "b"), votes("a", 0, 3), 5)
    assert verdicts.per_item == {"a": False, "b": True}
    assert verdicts.vote_tally["b"] == "0/0" and verdicts.reasons["b"] == ballots.DEFAULT_REASON


def test_the_reason_agrees_with_the_outcome_where_one_does() -> None:
    cast: list[Ballot] = [{"a": (False, "no")}, {"a": (True, "")}, {"a": (True, "holds it")}]
    assert ballots.aggregate(("a",), cast, 3).reasons == {"a": "holds it"}
    only_other: list[Ballot] = [{"a": (False, "no")}, {"a": (True, "")}, {"a": (True, "")}]
    assert ballots.aggregate(("a",), only_other, 3).reasons == {"a": "no"}


@given(
    cast=st.lists(BALLOT, max_size=9),
    rounds=st.integers(1, 9),
    kept=st.lists(st.sampled_from([*ITEMS, "kept"]), unique=True),
    chance=st.randoms(use_true_random=False),
)
def test_the_order_of_ballots_decides_nothing_and_what_is_always_kept_is_kept(
    cast: list[Ballot], rounds: int, kept: list[str], chance: random.Random
) -> None:
    verdicts = ballots.aggregate(ITEMS, cast, rounds, always_keep=kept)
    shuffled = chance.sample(cast, len(cast))
    again = ballots.aggregate(ITEMS, shuffled, rounds, always_keep=kept)
    assert again.model_copy(update={"reasons": verdicts.reasons}) == verdicts
    assert ballots.further_rounds(ITEMS, shuffled, rounds) == ballots.further_rounds(ITEMS, cast, rounds)
    assert {*kept} <= {*verdicts.relevant} and not {*verdicts.relevant} - {*ITEMS, *kept}
    assert {*ITEMS} == {item for item in verdicts.relevant if verdicts.per_item.get(item)} | {*verdicts.skipped}
    assert len(verdicts.relevant) == len({*verdicts.relevant}) and verdicts.rounds_ok == len(cast)
    for item in ITEMS:
        yes, of = map(int, verdicts.vote_tally[item].split("/"))
        assert 0 <= yes <= of <= len(cast) and verdicts.per_item[item] is (2 * yes >= of)
        cast_reasons = {ballot[item][1] for ballot in cast if item in ballot} | {""}
        assert verdicts.reasons[item] in {*cast_reasons, ballots.DEFAULT_REASON, ballots.FAILED_REASON}
    assert ballots.further_rounds(ITEMS, cast, rounds) <= max(0, rounds - len(cast))
