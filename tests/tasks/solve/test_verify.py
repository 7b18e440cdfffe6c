"""The validator of the form: code first, form alone, nothing of what the answer means (parity row D13)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from audited import SQL, Validators, attempt, checked, reply, steps
from endpoint import Status

from tasks import stage
from tasks.core.files.store import Store
from tasks.core.models.review import Audit, Claim, Ledger
from tasks.solve.verify import OFF

APPROVED = Audit(
    kind="candidate",
    steps=0,
    candidate=0,
    verdict="approved",
    fingerprint="f1",
    ledger=Ledger(verified_claims=(Claim(text="amounts are in CNY", evidence=("knowledge:3",)),)),
)
TRIED = attempt(steps(), SQL)


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "RETRY_SECONDS", (0.0, 0.0))


def form(valid: Any, *issues: tuple[str, str]) -> str:
    return json.dumps({"issues": [{"kind": kind, "text": text} for kind, text in issues], "valid": valid})


def test_d13_a_form_without_an_issue_is_approved_with_fingerprint_and_shape(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [form(True)]) as both:
        audit = both.form(TRIED, checked(), APPROVED)
        told = both.told()
    assert (audit.kind, audit.verdict, audit.fingerprint, audit.shape) == ("answer", "approved", "f1", "s1")
    for part in (SQL, "1 columns, 1 rows", "- sales DOUBLE: 1 different, 0 NULL, e.g. 300.0", "amounts are in CNY"):
        assert part in told, part
    assert "Take them as right" in told


def test_d13_a_rejection_asks_for_another_form_alone(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [form(False, ("columns", "Drop the rank."))]) as both:
        audit = both.form(TRIED, checked(), APPROVED)
    assert (audit.verdict, audit.issues, audit.spends) == ("rejected", ("columns: Drop the rank.",), True)
    assert "keep its sources, filters, joins, measures" in audit.actions[0].text


@pytest.mark.parametrize(
    "text",
    [
        form(False, ("measure", "It should be an average.")),
        form("true"),
        form("false", ("rows", "x")),
        form(False),
        form(True, ("rows", "one too many")),
        json.dumps({"valid": True}),
        "fine",
        "",
    ],
)
def test_d13_what_reopens_the_meaning_or_is_no_such_reply_is_no_verdict(
    store: Store, tmp_path: Path, text: str
) -> None:
    with Validators(store, tmp_path, lambda _: text) as both:
        audit = both.form(TRIED, checked(), APPROVED)
    assert (audit.verdict, audit.asked) == ("not_assessed", False)
    assert audit.problem.startswith("the validator failed: ")


@pytest.mark.parametrize(
    "audit",
    [
        None,
        APPROVED.model_copy(update={"verdict": "rejected"}),
        APPROVED.model_copy(update={"verdict": "not_assessed"}),
        APPROVED.model_copy(update={"fingerprint": "f2"}),
    ],
    ids=["none", "rejected", "not assessed", "another answer"],
)
def test_d13_nothing_is_looked_at_without_an_approved_process(
    store: Store, tmp_path: Path, audit: Audit | None
) -> None:
    with Validators(store, tmp_path, []) as both:
        assert both.form(TRIED, checked(), audit).verdict == "not_assessed"


def test_d13_an_answer_that_was_withheld_has_no_form(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, []) as both:
        assert both.form(TRIED, checked().model_copy(update={"table": None}), APPROVED).verdict == "not_assessed"


def test_d13_the_same_answer_is_not_looked_at_twice_and_another_form_is(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [form(True), form(False, ("order", "Not asked for."))]) as both:
        both.form(TRIED, checked(), APPROVED)
        again = both.form(TRIED, checked(), APPROVED)
        assert (again.verdict, both.endpoint.calls) == ("approved", 1)
        found = checked("f1", shape="s2")
        assert found.table
        named = found.model_copy(update={"table": found.table.model_copy(update={"columns": ("total",)})})
        assert both.form(TRIED, named, APPROVED).verdict == "rejected"


def test_d13_its_budget_is_its_own(store: Store, tmp_path: Path) -> None:
    script = [form(False, ("rows", f"reason {number}")) for number in range(3)]
    with Validators(store, tmp_path, [*script, reply(False, ["x"])]) as both:
        said = [both.form(TRIED, checked("f1", shape=f"s{n}"), APPROVED) for n in range(4)]
        assert [audit.verdict for audit in said] == ["rejected"] * 3 + ["not_assessed"]
        assert "reason 1" in str(both.endpoint.requests[2]["messages"])
        assert both.process(TRIED).verdict == "rejected"


def test_d13_without_a_model_or_switched_off_nobody_has_looked(store: Store, tmp_path: Path) -> None:
    for change, problem in (({"model": False}, OFF), ({"enabled": False}, "switched off: verify.enabled is false")):
        with Validators(store, tmp_path, [], verify=change) as both:
            audit = both.form(TRIED, checked(), APPROVED)
            assert (audit.verdict, audit.problem) == ("not_assessed", problem)


def test_d13_a_dead_endpoint_gives_no_verdict(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, lambda _: Status(503, "down")) as both:
        audit = both.form(TRIED, checked(), APPROVED)
    assert (audit.verdict, audit.unsettled) == ("not_assessed", "transient")
