"""How an attempt of the agent ends: loops, last turns, budgets, endpoints that are away."""

from typing import Any

import pytest
from endpoint import Endpoint, Status
from shop import assignment
from solver import NORTH, Case, act, call, run

from tasks.core.llm.tokens import count_messages
from tasks.core.models.answer import Attempt
from tasks.core.settings import load


@pytest.mark.parametrize(
    "calls",
    [
        [act("query", sql="SELECT 1")],
        [act("query", sql="SELECT 1"), act("query", sql="SELECT 2")],
    ],
    ids=["the same", "two by turns"],
)
def test_loops_are_broken_and_end_in_a_last_chance(case: Case, calls: list[str]) -> None:
    sent: list[dict[str, Any]] = []

    def stubborn(request: dict[str, Any]) -> str:
        sent.append(request)
        return calls[len(sent) % len(calls)]

    attempt = case.solve("json", stubborn)
    assert attempt.ended == "loop" and attempt.chosen is None and len(sent) < 12
    assert "was not run: you made it before" in case.told() and "only submit is possible" in case.told()


def test_a_call_made_twice_is_answered_with_the_way_out(case: Case) -> None:
    case.solve("json", [act("query", sql=NORTH), act("query", sql=NORTH), act("submit", sql=NORTH)])
    assert "hand the query in with submit" not in case.told(1) and "hand the query in with submit" in case.told(2)


def test_a_loop_may_still_end_well(case: Case) -> None:
    script = [act("query", sql="SELECT 1")] * 5 + [act("submit", sql=NORTH)]
    assert case.solve("json", script).ended == "submitted"


def test_the_last_turn_takes_only_a_submission(case: Case) -> None:
    attempt = case.solve(
        "json", lambda request: act("query", sql=f"SELECT {len(request['messages'])}"), agent={"turns": 5}
    )
    notes = [request["messages"][-1]["content"].splitlines()[-1] for request in case.requests[1:]]
    assert (
        notes[1:3] == ["3 turns are left: submit soon.", "2 turns are left: submit soon."] and "last turn" in notes[3]
    )
    assert attempt.ended == "turns" and attempt.chosen is None
    assert "Use one of: submit." in attempt.steps[-1].result


def test_the_last_turn_offers_only_submit_to_native_callers(case: Case) -> None:
    case.solve("tools", lambda request: call("query", sql=f"SELECT {len(request['messages'])}"), agent={"turns": 3})
    assert [[tool["function"]["name"] for tool in request["tools"]] for request in case.requests][-1] == ["submit"]


def test_an_unconfirmed_candidate_is_kept_at_the_end(case: Case) -> None:
    script = [act("submit", sql="SELECT amount FROM orders WHERE amount < 0"), act("query", sql="SELECT 1")]
    attempt = case.solve("json", script, agent={"turns": 2})
    assert (attempt.ended, attempt.chosen) == ("turns", 0)
    assert "no submission was confirmed; the best one so far is kept" in attempt.problems


def test_the_end_of_the_budget_keeps_what_ran_and_is_not_recorded(case: Case) -> None:
    script = [act("submit", sql="SELECT amount FROM orders WHERE amount < 0"), act("submit", sql=NORTH)]
    attempt = case.solve("json", script, budget={"calls": 1})
    assert (attempt.ended, attempt.chosen, attempt.unsettled) == ("budget", 0, "stopped")
    assert any("budget of calls" in problem for problem in attempt.problems)


@pytest.mark.parametrize("budget", [{"calls": 3}, {"tokens": 6000}], ids=["calls", "tokens"])
def test_before_the_budget_ends_there_is_a_last_turn(case: Case, budget: dict[str, int]) -> None:
    def diligent(request: dict[str, Any]) -> str:
        last = "last turn" in request["messages"][-1]["content"]
        return act("submit", sql=NORTH) if last else act("query", sql=f"SELECT {len(request['messages'])}")

    attempt = case.solve("json", diligent, budget=budget)
    assert (attempt.ended, attempt.chosen, attempt.unsettled) == ("submitted", 0, "") and len(case.requests) <= 6


def test_replies_that_are_no_action_are_told_and_bounded(case: Case) -> None:
    attempt = case.solve("json", ["I think it is 300.", "Surely 300.", act("submit", sql=NORTH)])
    assert attempt.ended == "submitted" and "could not be used" in case.requests[2]["messages"][-1]["content"]
    attempt = case.solve("json", lambda request: "No.")
    assert (attempt.ended, attempt.chosen, attempt.unsettled) == ("model_error", None, "stopped")
    assert len(case.requests) == 6


def test_a_model_that_only_talks_gets_one_last_chance(case: Case) -> None:
    attempt = case.solve("tools", lambda request: f"The answer is {len(request['messages'])}.")
    assert attempt.ended == "no_query" and len(case.requests) == 4
    assert "You called no tool" in case.told() and "last turn" in case.told()


def test_an_endpoint_that_is_away_leaves_the_attempt_open_for_a_retry(case: Case) -> None:
    attempt = case.solve("json", [act("query", sql="SELECT 1"), *[Status(503)] * 9])
    assert (attempt.ended, attempt.unsettled) == ("model_error", "transient") and len(attempt.steps) == 2


def test_prompts_stay_below_the_context_by_shortening_old_results(case: Case) -> None:
    def ask(request: dict[str, Any]) -> str:
        done = sum(message["role"] == "assistant" for message in request["messages"])
        if done == 12:
            return act("submit", sql=NORTH)
        return act("query", sql=f"SELECT repeat('x y ', 400) AS text, {done} AS number FROM range(3)")

    attempt = case.solve("json", ask, roles={"agent": {"context_tokens": 7000, "max_tokens": 1000}})
    assert attempt.ended == "submitted" and len(case.requests) == 13
    assert all(count_messages(request["messages"]) <= 6000 for request in case.requests)
    last = [message["content"] for message in case.requests[-1]["messages"]]
    assert any("more signs of this result were dropped" in text for text in last) and "x y x y" in last[-1]
    assert any("older results were shortened" in problem for problem in attempt.problems)


def test_the_contract_and_the_candidates_survive_a_round_trip(case: Case) -> None:
    attempt = case.solve(
        "json", [act("submit", sql="SELECT 9007199254740993 AS id, 'a\"b' AS t, 1.5 AS x, true AS b, NULL AS n")] * 2
    )
    assert Attempt.model_validate_json(attempt.model_dump_json()) == attempt
    assert attempt.candidate and attempt.candidate.preview == ((9007199254740993, 'a"b', 1.5, True, None),)


def test_an_attempt_is_made_once_and_one_cut_short_is_taken_up_again(case: Case) -> None:
    given = assignment(case.store, case.folder, "What are the sales of the north?", load().brief)
    look = act("query", sql="SELECT 1")
    with Endpoint([look, look, act("submit", sql=NORTH)]) as endpoint:
        cut = run(case, given, endpoint, budget={"calls": 2})
        assert (cut.ended, cut.unsettled, endpoint.calls) == ("budget", "stopped", 2)
        whole = run(case, given, endpoint)
        assert (whole.ended, endpoint.calls) == ("submitted", 3) and whole.usage.journaled == 1
        assert run(case, given, endpoint) == whole and endpoint.calls == 3
