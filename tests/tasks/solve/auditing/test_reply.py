"""The process validator's reply: what it may say, and what code makes of it (parity rows D8, D9, D11)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from audited import reply

from tasks.core.llm.structured import Invalid
from tasks.core.models.review import Ledger
from tasks.solve.auditing.reply import Judged, read

IDS = {"step_1:call_1", "step_0:call_table1"}
BEFORE = Ledger(intent_summary="before", unverified_assumptions=("the scale is not known",))


def judged(text: str) -> Judged:
    return read(text, IDS, 5, BEFORE)


def claim(*ids: str) -> list[dict[str, Any]]:
    return [{"text": "a claim", "evidence": [*ids]}]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        (reply(True, verified_claims=claim("step_1:call_1")), ("step_1:call_1",)),
        (reply(True, verified_claims=claim("[step_0:call_table1]")), ("step_0:call_table1",)),
        (reply(True, verified_claims=claim("knowledge.md line 5", "nothing")), ("knowledge:5",)),
        (f"Here it is:\n```json\n{reply(True)}\n```", ("knowledge:3",)),
        (reply(True, unverified_assumptions=[{"text": "of no weight", "material": False}]), ("knowledge:3",)),
    ],
)
def test_d8_a_pass_needs_a_claim_with_evidence_that_exists(text: str, cited: tuple[str, ...]) -> None:
    made = judged(text)
    assert made.verdict == "approved"
    assert made.ledger.verified_claims[0].evidence == cited


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I approve.",
        "[]",
        "{}",
        '{"valid": "false"}',
        '{"valid": "true"}',
        '{"valid": 1}',
        '{"valid": null}',
        '{"valid": true}',
        reply("true"),
        reply("false"),
        reply(1),
        reply(True, issues=["the year is wrong"]),
        reply(True, actions=["look again"]),
        reply(True, verified_claims=[]),
        reply(True, verified_claims=claim("step_9:call_1")),
        reply(True, verified_claims=claim("knowledge:6")),
        reply(True, verified_claims="all is well"),
        reply(True, unverified_assumptions=[{"text": "x", "material": "no"}]),
        reply(False),
        json.dumps({"valid": False, "issues": "one text, no list"}),
        json.dumps({"valid": True, "issues": [], "required_next_actions": [], "semantic_ledger": "fine"}),
    ],
)
def test_d8_what_is_no_such_reply_or_contradicts_itself_is_no_verdict(text: str) -> None:
    with pytest.raises(Invalid):
        judged(text)


def test_d8_a_pass_with_a_material_assumption_is_a_rejection() -> None:
    made = judged(reply(True, unverified_assumptions=["the rate is a ratio"]))
    assert (made.verdict, made.issues) == ("rejected", ("not verified: the rate is a ratio",))
    assert made.actions == (("Find evidence that decides this: the rate is a ratio", ()),)


def test_d8_a_rejection_keeps_issues_actions_and_their_sources() -> None:
    actions = [{"text": "read\n the\x00 definition", "sources": ["orders.amount"]}, "look at the values"]
    made = judged(reply(False, ["the scale is not known"], actions))
    assert (made.verdict, made.issues) == ("rejected", ("the scale is not known",))
    assert made.actions == (("read the definition", ("orders.amount",)), ("look at the values", ()))


def test_d9_a_malformed_ledger_keeps_the_one_before() -> None:
    text = json.dumps({"valid": False, "issues": ["x"], "required_next_actions": [], "semantic_ledger": [1, 2]})
    assert judged(text).ledger == BEFORE
    assert judged(reply(False, ["x"], drift_risks="no list")).ledger == BEFORE


def test_d9_a_claim_without_evidence_is_kept_as_an_assumption() -> None:
    made = judged(reply(False, ["x"], verified_claims=[*claim("step_1:call_1"), "all rows are there"]))
    assert [one.text for one in made.ledger.verified_claims] == ["a claim"]
    assert made.ledger.unverified_assumptions == ("all rows are there",)


def test_an_endless_reply_is_kept_short() -> None:
    made = judged(reply(False, ["x" * 5000] * 50, ["y"] * 50, drift_risks=["z"] * 500))
    assert (len(made.issues), len(made.issues[0]), len(made.actions)) == (8, 400, 5)
    assert len(made.ledger.drift_risks) <= 40
