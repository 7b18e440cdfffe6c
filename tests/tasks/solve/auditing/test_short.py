"""The short request to a validator that reads little: what is in it, what is left out and said, and how strictly its reply is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audited import SQL, Tried, Validators, attempt, checked, steps

from tasks.core.files.store import Store
from tasks.core.llm.structured import Invalid
from tasks.core.llm.tokens import count
from tasks.core.models.evidence import Check
from tasks.solve.auditing import short

LOOKED: Tried = ("query", {"sql": "SELECT DISTINCT region FROM customers"}, "region\n华北\n(1 row)")
LOST = Check(name="join", outcome="noted", detail="2 rows of orders found no partner in customers (left out)")
TABLES = {"step_0:call_table1", "step_0:call_table2"}


def said(issue: object = "", evidence: object = ("step_0:call_table1",), valid: object = True) -> str:
    return json.dumps({"issue": issue, "evidence": evidence, "valid": valid})


def test_where_little_can_be_read_the_short_request_is_sent_and_says_what_it_leaves_out(
    store: Store, tmp_path: Path
) -> None:
    process = {"request_tokens": 1300}
    with Validators(store, tmp_path, [said()], process=process) as both:
        audit = both.process(attempt(steps(LOOKED), SQL), checked("f1", LOST))
        told = both.told()
        assert count(told) <= 1300 and SQL in told and "What are the sales of 华北?" in told and LOST.detail in told
    assert (audit.verdict, audit.fingerprint) == ("approved", "f1")
    assert audit.ledger.verified_claims[0].evidence == ("step_0:call_table1",)
    assert {item.id for item in audit.package.items} == TABLES
    assert audit.package.omitted_by_reason["evidence_budget"] == len(audit.package.omitted) > 0


def test_a_rejection_in_short_tells_the_solver_what_is_wrong(store: Store, tmp_path: Path) -> None:
    process = {"request_tokens": 1300}
    with Validators(store, tmp_path, [said("the region is missing", [], False)], process=process) as both:
        audit = both.process(attempt(steps(LOOKED), SQL))
    assert (audit.verdict, audit.issues, audit.spends) == ("rejected", ("the region is missing",), True)


def test_nothing_short_is_asked_on_the_way_to_a_submission(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [], process={"request_tokens": 1300}) as both:
        audit = both.process(attempt(steps(LOOKED), due="checkpoint"))
        assert both.endpoint.calls == 0
    assert audit.verdict == "not_assessed" and "too long" in audit.problem


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fine",
        "{}",
        said(valid="true"),
        said(valid=1),
        said(evidence=[]),
        said(evidence=["step_9:call_1"]),
        said("but the year is wrong"),
        said("", [], False),
        said("  ", [], False),
        said(None),
    ],
)
def test_what_is_no_reply_or_contradicts_itself_is_no_verdict(text: str) -> None:
    with pytest.raises(Invalid):
        short.read(text, TABLES)
