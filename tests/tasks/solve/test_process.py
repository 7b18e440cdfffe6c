"""The process validator: when it looks, what it reads, what it may say, and what becomes of that (parity rows D5 to D14)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from audited import OTHER, SQL, Tried, Validators, attempt, checked, reply, steps
from endpoint import Cut, Drop, Status
from shop import INJECTION

from tasks import stage
from tasks.core.files.store import Store
from tasks.core.models.evidence import Check
from tasks.core.models.review import Ledger
from tasks.core.settings import load
from tasks.solve.auditing import request
from tasks.solve.compressing.extras import VIDEO
from tasks.solve.process import OFF

LOOKED: Tried = ("query", {"sql": "SELECT DISTINCT region FROM customers"}, "region\n华北\n华东\nNULL\n(3 rows)")
MORE: Tried = ("query", {"sql": "SELECT amount FROM orders"}, "amount\n120.5\n80.0\n(2 rows)")
COLUMNS = Check(name="columns", outcome="failed", detail="the contract expects 2 columns, the answer has 1")
UNREAD = Check(name="document cells", outcome="failed", detail="cells of amount (1 of 4) were not read from orders.md")
REPLAY = Check(name="replay", outcome="failed", detail="the replay gave other rows than the solver saw")


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "RETRY_SECONDS", (0.0, 0.0))


def citing(*ids: str, **more: Any) -> str:
    return reply(True, verified_claims=[{"text": "华北 is a region", "evidence": [*ids]}], **more)


# --- D5: when it looks, and how long an approval holds


def test_d5_a_pass_that_cites_evidence_approves_this_fingerprint(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [citing("step_1:call_1")]) as both:
        audit = both.process(attempt(steps(LOOKED), SQL))
    assert (audit.kind, audit.verdict, audit.asked, audit.spends) == ("candidate", "approved", True, False)
    assert (audit.fingerprint, audit.shape, audit.candidate, audit.steps) == ("f1", "s1", 0, 2)
    assert audit.ledger.verified_claims[0].evidence == ("step_1:call_1",)
    assert audit.usage.calls == 1


def test_d5_a_repair_of_display_keeps_the_approval_and_new_evidence_does_not_void_it(
    store: Store, tmp_path: Path
) -> None:
    with Validators(store, tmp_path, [citing("step_1:call_1")]) as both:
        both.process(attempt(steps(LOOKED), SQL))
        again = both.process(attempt(steps(LOOKED, MORE), SQL, f"{SQL} "), checked("f1", shape="s2"))
        assert both.endpoint.calls == 1
    assert (again.verdict, again.asked, again.candidate, again.shape) == ("approved", False, 1, "s2")


def test_d5_a_repair_of_display_runs_into_the_checks_all_the_same(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [citing("step_1:call_1")]) as both:
        both.process(attempt(steps(LOOKED), SQL))
        again = both.process(attempt(steps(LOOKED), SQL, f"{SQL} "), checked("f1", COLUMNS))
    assert (again.verdict, again.issues) == ("rejected", (COLUMNS.detail,))


@pytest.mark.parametrize("fingerprint", ["f2", ""])
def test_d5_a_changed_answer_is_audited_again(store: Store, tmp_path: Path, fingerprint: str) -> None:
    with Validators(store, tmp_path, [citing("step_1:call_1"), reply(False, ["another measure"])]) as both:
        both.process(attempt(steps(LOOKED), SQL), checked(fingerprint and "f1"))
        again = both.process(attempt(steps(LOOKED), SQL, OTHER), checked(fingerprint))
    assert (again.verdict, again.asked) == ("rejected", True)


def test_d5_an_approval_falls_when_the_evidence_it_cites_is_gone(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [citing("step_1:call_1"), citing("step_1:call_1")]) as both:
        both.process(attempt(steps(LOOKED), SQL))
        again = both.process(attempt(steps(MORE), SQL))
        assert both.endpoint.calls == 2
    assert again.asked


def test_d5_a_checkpoint_looks_at_the_way_alone_and_approves_nothing(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [reply(True), reply(False, ["the region was never looked at"])]) as both:
        way = both.process(attempt(steps(MORE), due="checkpoint"))
        assert "There is no answer yet" in both.told() and SQL not in both.told()
        audit = both.process(attempt(steps(MORE), SQL))
        assert both.endpoint.calls == 2
    assert (way.kind, way.verdict, way.candidate, way.fingerprint) == ("checkpoint", "approved", None, "")
    assert audit.verdict == "rejected"


def test_d5_a_checkpoint_spends_no_budget_and_rejections_of_candidates_do(store: Store, tmp_path: Path) -> None:
    script = [reply(False, [f"reason {number}"]) for number in range(3)]
    with Validators(store, tmp_path, script) as both:
        way = both.process(attempt(steps(MORE), due="checkpoint"))
        first = both.process(attempt(steps(MORE, LOOKED), SQL))
        second = both.process(attempt(steps(MORE, LOOKED), SQL, OTHER), checked("f2"))
        third = both.process(attempt(steps(MORE, LOOKED), SQL, OTHER, f"{SQL};"), checked("f3"))
        assert both.endpoint.calls == 3
    assert [each.spends for each in (way, first, second, third)] == [False, True, True, False]
    assert (third.verdict, third.asked) == ("not_assessed", False)
    assert "review budget" in third.problem


# --- checks of code come first


def test_d5_a_failed_check_rejects_without_asking_and_is_told_once(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [reply(True)]) as both:
        first = both.process(attempt(steps(MORE), SQL), checked("f1", COLUMNS))
        assert both.endpoint.calls == 0
        again = both.process(attempt(steps(MORE), SQL, SQL), checked("f1", COLUMNS))
    assert (first.verdict, first.asked, first.spends, first.issues) == ("rejected", False, False, (COLUMNS.detail,))
    assert "confirm" in first.actions[0].text
    assert (again.verdict, again.asked) == ("approved", True)


def test_what_no_query_can_mend_is_sent_back_to_nobody(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [reply(True)]) as both:
        audit = both.process(attempt(steps(MORE), SQL), checked("f1", UNREAD))
    assert (audit.verdict, audit.asked, audit.issues) == ("approved", True, ())


def test_d5_another_result_with_the_same_failing_check_is_rejected_again_unless_confirmed(
    store: Store, tmp_path: Path
) -> None:
    with Validators(store, tmp_path, [reply(True)]) as both:
        both.process(attempt(steps(MORE), SQL), checked("f1", COLUMNS))
        again = both.process(attempt(steps(MORE), SQL, OTHER), checked("f2", COLUMNS))
        insisted = steps(MORE, ("submit", {"sql": OTHER, "confirm": True}, "…"))
        last = both.process(attempt(insisted, SQL, OTHER), checked("f2", COLUMNS))
    assert (again.verdict, again.spends) == ("rejected", True)
    assert last.verdict == "approved"


def test_d5_nobody_can_insist_on_a_replay_that_differs(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, []) as both:
        for _ in range(2):
            audit = both.process(attempt(steps(MORE), SQL), checked("f1", REPLAY))
            assert (audit.verdict, audit.actions) == ("rejected", ())
        assert both.endpoint.calls == 0


def test_without_a_model_code_rejects_and_else_nobody_has_looked(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [], process={"model": False}) as both:
        sound = both.process(attempt(steps(MORE), SQL))
        bad = both.process(attempt(steps(MORE), SQL), checked("f1", COLUMNS))
    assert (sound.verdict, sound.problem, sound.asked) == ("not_assessed", OFF, False)
    assert bad.verdict == "rejected"


def test_switched_off_nothing_is_looked_at(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [], process={"enabled": False}) as both:
        assert both.process(attempt(steps(MORE), SQL), checked("f1", COLUMNS)).verdict == "not_assessed"


# --- D6, D7, D12: what it reads


def test_d6_the_request_has_question_answer_source_evidence_knowledge_ledger_and_steps(
    store: Store, tmp_path: Path
) -> None:
    thinking: Tried = ("query", {"sql": "SELECT nothing FROM orders"}, "Error: no such column", "failed")
    made = list(steps(LOOKED, thinking))
    made[2] = made[2].model_copy(update={"result": "<think>hidden reasoning</think>I look at the orders"})
    with Validators(store, tmp_path, [reply(False, ["the year is open"]), reply(True)]) as both:
        both.process(attempt(made, due="checkpoint"))
        both.process(attempt(made, SQL))
        told = both.told()
    for part in (
        "What are the sales of 华北?",
        SQL,
        "its one value, sales: 300.0",
        "[step_1:call_1] query; source rows; complete: 3 of 3 rows",
        "[step_0:call_table1] profile; table structure, field definition",
        "orders.customer_id -> customers.customer_id (80 % match",
        "3: - Sales: sum of amount, in CNY",
        "1 not_successful",
        "query of orders: not_successful",
        "sales are the sum of amounts",
        "I look at the orders",
        "failed: Error: no such column",
    ):
        assert part in told, part
    assert "hidden reasoning" not in told


def test_d6_five_rows_are_shown_as_a_preview_and_a_zero_as_a_value(store: Store, tmp_path: Path) -> None:
    found = checked()
    assert found.table
    rows = tuple((float(number),) for number in range(9))
    long = found.model_copy(update={"table": found.table.model_copy(update={"rows": rows, "row_count": 9})})
    zero = found.model_copy(update={"table": found.table.model_copy(update={"rows": ((0,),)})})
    with Validators(store, tmp_path, [reply(True), reply(True)]) as both:
        both.process(attempt(steps(MORE), SQL), long)
        assert "4.0\n… (the first 5 of 9 rows)" in both.told() and "5.0\n" not in both.told()
        both.process(attempt(steps(MORE), SQL), zero.model_copy(update={"fingerprint": "f0"}))
        assert "its one value, sales: 0\n" in both.told()
        assert "a zero or an empty result that reproduces is a legitimate answer" in both.told()


def test_d6_what_a_cell_orders_stays_inside_its_fence(store: Store, tmp_path: Path) -> None:
    note: Tried = ("query", {"sql": "SELECT note FROM orders"}, f"note\n{INJECTION}\n(1 row)")
    with Validators(store, tmp_path, [reply(True)]) as both:
        both.process(attempt(steps(note), SQL))
        lines = both.told().split("\n")
    at = lines.index(INJECTION)
    bar = next(line for line in reversed(lines[:at]) if line and not line.strip("~"))
    assert len(bar) > 4 and bar in lines[at + 1 :]


def test_d7_the_prompt_says_what_is_audited_what_proves_nothing_and_what_is_not_its_business() -> None:
    text = request.PROMPT.read_text("utf-8")
    for part in (
        "Habits of the trade, memory, a plausible number, the look of a name",
        "do not ask for what no source says, such as an undocumented key",
        "Large results are supported by counts, probes of the bounds",
        "Never reject for them",
        "They prove nothing, and alone they reject nothing",
    ):
        assert part in text


def test_d12_the_limits_have_the_names_and_defaults_of_the_original() -> None:
    assert load().process.model_dump() == {
        "enabled": True,
        "model": True,
        "checkpoint_model_interval": 12,
        "review_budget": 1,
        "request_tokens": 0,
        "recent_steps": 200,
        "evidence_items": 100,
        "string_tokens": 10000,
        "list_items": 200,
    }


def test_d12_a_request_fits_a_model_that_reads_little(store: Store, tmp_path: Path) -> None:
    rows = "\n".join(f"row {number} of a long result" for number in range(400))
    many = [("query", {"sql": f"SELECT {n} FROM orders"}, f"a\n{rows}\n(400 rows)") for n in range(60)]
    roles = {"process": {"context_tokens": 9000, "max_tokens": 1000}}
    with Validators(store, tmp_path, [reply(True)], roles=roles) as both:
        audit = both.process(attempt(steps(*many), SQL))
        assert f"[{audit.package.items[-1].id}]" in both.told()
    assert audit.verdict == "approved"
    assert audit.package.omitted_by_reason["evidence_budget"] > 0
    assert audit.package.items[-1].status == "partial"


# --- D10: actions


def test_d10_a_rejection_asks_for_actions_and_later_evidence_closes_them(store: Store, tmp_path: Path) -> None:
    wanted = [{"text": "look at the amounts", "sources": ["orders.amount"]}]
    with Validators(store, tmp_path, [reply(False, ["unit unknown"], wanted), reply(True)]) as both:
        first = both.process(attempt(steps(LOOKED), SQL))
        again = both.process(attempt(steps(LOOKED, MORE), SQL, SQL))
        assert "closed by step_3:call_1: look at the amounts" in both.told()
    assert (first.actions[0].status, first.actions[0].sources) == ("open", ("orders.amount",))
    assert (again.settled[0].status, again.settled[0].evidence) == ("closed", "step_3:call_1")
    assert again.verdict == "approved"


def test_d10_the_same_answer_with_an_action_still_due_is_not_looked_at(store: Store, tmp_path: Path) -> None:
    wanted = [{"text": "look at the amounts", "sources": ["orders.amount"]}]
    with Validators(store, tmp_path, [reply(False, ["unit unknown"], wanted)]) as both:
        both.process(attempt(steps(LOOKED), SQL))
        again = both.process(attempt(steps(LOOKED), SQL, SQL))
        assert both.endpoint.calls == 1
    assert (again.verdict, again.asked, again.spends) == ("rejected", False, True)
    assert again.issues == ("not done yet: look at the amounts",)
    assert again.actions[0].text == "look at the amounts"


# --- D9, D11: the ledger, and failures


def test_d9_the_ledger_goes_from_round_to_round_also_over_one_that_failed(store: Store, tmp_path: Path) -> None:
    script = [reply(True, intent_summary="total sales"), "nonsense", "nonsense", "nonsense", "nonsense"]
    with Validators(store, tmp_path, script) as both:
        first = both.process(attempt(steps(MORE), due="checkpoint"))
        second = both.process(attempt(steps(MORE), SQL))
        assert "total sales" in str(both.endpoint.requests[-1]["messages"])
    assert second.ledger == first.ledger != Ledger()
    assert (second.verdict, second.asked) == ("not_assessed", False)


FAULTS: dict[str, Any] = {
    "nonsense": "I approve this answer.",
    "empty": "",
    "false as text": reply("false"),
    "true as text": reply("true"),
    "true as a number": reply(1),
    "nothing cited": reply(True, verified_claims=[]),
    "no ledger": json.dumps({"valid": True, "issues": [], "required_next_actions": []}),
    "cut off": Cut('{"valid": true'),
    "refused": {"content": None, "refusal": "I will not judge"},
    "server error": Status(500, "down"),
    "connection lost": Drop(),
    "no such model": Status(404, "no such model"),
    "no key": Status(401, "no key"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_d11_a_validator_that_fails_approves_nothing_and_ends(store: Store, tmp_path: Path, fault: Any) -> None:
    with Validators(store, tmp_path, lambda _: fault) as both:
        audit = both.process(attempt(steps(MORE), SQL))
        assert both.endpoint.calls <= 12
    assert (audit.verdict, audit.asked, audit.spends) == ("not_assessed", False, False)
    assert audit.problem.startswith("the validator failed: ")
    assert audit.unsettled


def test_d11_a_request_that_takes_too_long_is_a_failure(store: Store, tmp_path: Path) -> None:
    from endpoint import Delay

    roles = {"process": {"timeout_seconds": 0.2, "attempts": 1}}
    with Validators(store, tmp_path, lambda _: Delay(1.5, reply(True)), roles=roles) as both:
        audit = both.process(attempt(steps(MORE), SQL))
    assert audit.verdict == "not_assessed"


def test_d11_an_error_of_ours_is_a_failure_too(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("tasks.solve.auditing.reply.read", broken)
    with Validators(store, tmp_path, [reply(True), reply(True)]) as both:
        audit = both.process(attempt(steps(MORE), SQL))
    assert (audit.verdict, audit.problem) == ("not_assessed", "the validator failed: RuntimeError: broken")


def test_d11_one_bad_reply_is_repaired_and_a_second_one_asked_for_anew(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [reply("true"), reply(True)]) as both:
        assert both.process(attempt(steps(MORE), SQL)).verdict == "approved"
        assert "valid" in both.told() and "could not be used" in both.told()
    with Validators(store, tmp_path, ["nonsense", "nonsense", reply(True)]) as both:
        assert both.process(attempt(steps(LOOKED), SQL)).verdict == "approved"


def test_d11_a_failure_is_not_recorded_and_the_next_run_asks_again(store: Store, tmp_path: Path) -> None:
    with Validators(store, tmp_path, [*[Status(500, "down")] * 6, reply(True)]) as both:
        tried = attempt(steps(MORE), SQL)
        assert both.process(tried).unsettled == "transient"
        both.given = both.given.model_copy(update={"audits": ()})
        assert both.process(tried).verdict == "approved"


# --- D14: the worked example


def test_d14_a_scale_that_is_not_known_is_rejected_and_verified_after_the_evidence(
    store: Store, tmp_path: Path
) -> None:
    sql = "SELECT count(*) AS n FROM orders WHERE amount > 5"
    action = {"text": "Read the definition of amount and look at its values.", "sources": ["orders.amount"]}
    first = reply(
        False,
        ["whether 5 % is 0.05 or 5 in amount is not shown by anything"],
        [action],
        verified_claims=[],
        unverified_assumptions=["the scale of amount"],
        unresolved_ambiguities=["5 % against 0.05 or 5"],
        drift_risks=["do not go over to another table"],
    )
    second = reply(True, verified_claims=[{"text": "the scale of amount is percent", "evidence": ["step_3:call_1"]}])
    with Validators(store, tmp_path, [first, second]) as both:
        rejected = both.process(attempt(steps(LOOKED), sql))
        approved = both.process(attempt(steps(LOOKED, MORE), sql, sql))
        told = both.told()
    assert rejected.verdict == "rejected"
    assert rejected.ledger.unverified_assumptions == ("the scale of amount",)
    assert [duty.text for duty in rejected.actions] == [action["text"]]
    assert '"the scale of amount"' in told and "[step_3:call_1]" in told
    assert approved.verdict == "approved"
    assert approved.ledger.unverified_assumptions == ()
    assert [claim.text for claim in approved.ledger.verified_claims] == ["the scale of amount is percent"]


# --- what a video shows


@pytest.mark.parametrize(("cited", "verdict"), [("video:00:05.0", "approved"), ("video:00:07.0", "not_assessed")])
def test_d6_a_claim_about_a_video_goes_back_to_a_line_that_was_seen(
    store: Store, tmp_path: Path, cited: str, verdict: str
) -> None:
    lines = "[00:05.0 slide] region = 华北\n[00:07.0 speech] it is five percent"
    with Validators(store, tmp_path, lambda _: citing(cited)) as both:
        brief = both.given.brief
        both.given = both.given.model_copy(
            update={"brief": brief.model_copy(update={"text": f"{brief.text}\n\n{VIDEO}\n{lines}\n\nmore"})}
        )
        audit = both.process(attempt(steps(MORE), SQL))
        assert "[00:07.0 speech] it is five percent\n~~~" in both.endpoint.requests[0]["messages"][0]["content"]
    assert audit.verdict == verdict
