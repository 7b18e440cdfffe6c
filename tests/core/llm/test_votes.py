"""Votes by a scripted model over real HTTP: batches, failed rounds, early stop and replay."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from endpoint import Cut, Endpoint, Status

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.llm.votes import Slate, reply_model, vote
from tasks.core.models.document import Verdicts
from tasks.core.sections import VoteSettings
from tasks.core.settings import load

ASKED = [{"role": "user", "content": "Which of these matter? 哪些相关?"}]
SLATE = Slate(("lc_sharetransfer", "lc_staff"))


def reply(*relevant: str, items: tuple[str, ...] = SLATE.items) -> str:
    return json.dumps({"verdicts": [{"doc_name": i, "reason": f"about {i}", "relevant": i in relevant} for i in items]})


YES, BOTH = reply("lc_sharetransfer"), reply(*SLATE.items)


def run(
    store: Store, script: Any, slate: Slate = SLATE, rounds: int = 5, **overrides: Any
) -> tuple[Verdicts, Endpoint]:
    with Endpoint(script) as server:
        settings = load(
            overrides={
                "endpoints": {"main": {"url": server.url, "model": "scripted", "concurrency": 9}},
                "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
                "roles": {"relevance": {"attempts": 1}},
                "vote": {"rounds": rounds},
                **overrides,
            }
        )
        with door.use(Door(settings, store, Meter(settings.budget))):
            return asyncio.run(vote("relevance", ASKED, slate, settings.vote)), server


def in_turn(script: list[Any]) -> Callable[[dict[str, Any]], Any]:
    lock, rest = threading.Lock(), list(script)

    def next_one(_: dict[str, Any]) -> Any:
        with lock:
            return rest.pop(0) if rest else YES

    return next_one


def test_three_rounds_that_agree_decide_five_and_are_asked_at_once_with_one_prompt(store: Store) -> None:
    verdicts, server = run(store, in_turn([]))
    assert verdicts.relevant == ("lc_sharetransfer",) and verdicts.skipped == ("lc_staff",)
    assert verdicts.vote_tally == {"lc_sharetransfer": "3/3", "lc_staff": "0/3"}
    assert (verdicts.rounds_ok, verdicts.rounds_wanted, server.calls) == (3, 5, 3)
    assert len({json.dumps(body, sort_keys=True) for body in server.requests}) == 1
    assert verdicts.usage.calls == 3 and not verdicts.unsettled and not verdicts.error


def test_further_rounds_are_asked_only_while_an_outcome_is_open(store: Store) -> None:
    verdicts, server = run(store, in_turn([BOTH, YES, BOTH, YES]))
    assert server.calls == 5 and verdicts.rounds_ok == 5
    assert verdicts.vote_tally["lc_sharetransfer"] == "5/5" and verdicts.vote_tally["lc_staff"] == "2/5"
    assert verdicts.per_item == {"lc_sharetransfer": True, "lc_staff": False}


def test_every_round_has_its_own_reply_in_the_journal_and_a_rerun_asks_nothing(store: Store) -> None:
    first, _ = run(store, in_turn([BOTH, YES, BOTH, YES]))
    again, server = run(store, in_turn([BOTH] * 9))
    assert server.calls == 0 and again.usage.journaled == 5
    assert again.vote_tally == first.vote_tally and again.reasons == first.reasons


@pytest.mark.parametrize("bad", ["no JSON", '{"verdicts": "none"}', Status(500), Cut('{"verdicts": [')], ids=repr)
def test_a_failed_round_is_not_counted_and_asked_again_without_a_repair_turn(store: Store, bad: Any) -> None:
    """Batches as in the worked example: of three one succeeds, then of two one, then the last."""
    script = [YES, bad, bad, YES, bad, YES]
    verdicts, server = run(store, in_turn(script), roles={"relevance": {"attempts": 1, "max_tokens": 32000}})
    assert server.calls == 6 and verdicts.rounds_ok == 3 and verdicts.vote_tally["lc_staff"] == "0/3"
    assert all(len(body["messages"]) == 1 for body in server.requests)


def test_there_are_at_most_two_batches_beyond_the_rounds_and_then_the_successes_count(store: Store) -> None:
    verdicts, server = run(store, in_turn([YES, BOTH, *["?"] * 40]))
    assert server.calls == 3 + 6 * 2 and verdicts.rounds_ok == 2
    assert verdicts.vote_tally == {"lc_sharetransfer": "2/2", "lc_staff": "1/2"}
    assert verdicts.per_item["lc_staff"], "a tie is relevant"


@pytest.mark.parametrize(
    ("bad", "unsettled"), [("?", "stopped"), (Status(503), "transient"), (Status(400, "no"), "stopped")], ids=str
)
def test_without_a_single_round_everything_is_relevant_and_the_error_says_why(
    store: Store, bad: Any, unsettled: str
) -> None:
    verdicts, server = run(store, lambda _: bad, Slate(SLATE.items, always_keep=("rules",)), rounds=3)
    assert verdicts.relevant == (*SLATE.items, "rules") and verdicts.skipped == ()
    assert verdicts.vote_tally == dict.fromkeys(SLATE.items, "0/0")
    assert verdicts.error.startswith("no round of role 'relevance' succeeded") and verdicts.unsettled == unsettled
    assert server.calls == 2 * 5


def test_unknown_repeated_and_omitted_names_fail_no_round(store: Store) -> None:
    told = [("LC_STAFF", True), ("lc_sharetransfer", False), ("lc_sharetransfer", True), ("invented", True)]
    text = json.dumps({"verdicts": [{"doc_name": name, "reason": "", "relevant": yes} for name, yes in told]})
    verdicts, server = run(store, lambda _: text)
    assert verdicts.vote_tally == {"lc_sharetransfer": "5/5", "lc_staff": "0/0"}
    assert verdicts.per_item == {"lc_sharetransfer": True, "lc_staff": True}
    assert server.calls == 5, "an item that abstained stays open until all rounds are asked"


def test_nothing_to_judge_asks_nothing(store: Store) -> None:
    verdicts, server = run(store, [], Slate((), always_keep=("rules",)))
    assert server.calls == 0 and verdicts.relevant == ("rules",) and not verdicts.error


def test_a_spent_budget_ends_the_vote_with_the_rounds_that_it_paid(store: Store) -> None:
    verdicts, server = run(store, in_turn([BOTH] * 3 + [YES] * 9), budget={"calls": 2})
    assert server.calls == 2 and verdicts.rounds_ok == 2 and verdicts.unsettled == "stopped"


def test_the_reply_names_the_item_then_the_reason_then_the_judgement() -> None:
    schema = reply_model("table_name").model_json_schema()
    assert list(schema["$defs"]["Verdict"]["properties"]) == ["table_name", "reason", "relevant"]


def test_rounds_are_bounded() -> None:
    with pytest.raises(ValueError):
        VoteSettings.model_validate({**load().vote.model_dump(), "rounds": 10})
