"""The whole path with validators that approve, reject or fail: an answer is approved by what was looked at, or not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from endpoint import Delay, Drop, Status
from validators import approved, schema
from world import ANSWER, ASKED, SQL, World, make_folder, solver

Reply = Callable[[dict[str, Any]], Any]
WRONG = SQL.replace("ORDER BY ALL", "HAVING count(*) > 1 ORDER BY ALL")
LEDGER = {"intent_summary": "SECRET-INTENT", "drift_risks": ["SECRET-RISK"]}


def rejected(issue: str, *actions: str) -> str:
    """The reply of a process validator that sends a candidate back."""
    return json.dumps(
        {"semantic_ledger": LEDGER, "issues": [issue], "required_next_actions": list(actions), "valid": False}
    )


class Model:
    """A solver that hands in these queries, one after another, and validators that say what they are scripted to."""

    def __init__(self, *queries: str, process: Reply = approved, form: Reply = approved, looks: int = 0) -> None:
        self.queries, self.process, self.form, self.looks = queries, process, form, looks
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Any:
        name = schema(body)
        self.asked[name] += 1
        if name == "ProcessReply":
            return self.process(body)
        if name == "FormReply":
            return self.form(body)
        if name == "ContractReply":
            return solver(body)
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        if turn < self.looks:
            return _act("query", sql=f"SELECT {turn} FROM orders")
        return _act("submit", sql=self.queries[min(turn - self.looks, len(self.queries) - 1)])


def _act(tool: str, **arguments: Any) -> str:
    return json.dumps({"thought": "", "tool": tool, "arguments": arguments})


def once(first: str) -> Reply:
    """Says this the first time, approves from then on."""
    said = Counter[str]()

    def reply(body: dict[str, Any]) -> str:
        said["all"] += 1
        return first if said["all"] == 1 else approved(body)

    return reply


def answer(world: World, tmp_path: Path, model: Model, settings: str = "") -> tuple[Any, dict[str, Any]]:
    """The end of the run and its evidence."""
    world.endpoint.replies = model
    profile = tmp_path / "own.toml"
    profile.write_text(settings, "utf-8")
    folder = tmp_path / "shop"
    ended = world.answer(folder if folder.exists() else make_folder(folder), tmp_path / "out", profile=str(profile))
    return ended, json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))


def kinds(evidence: dict[str, Any]) -> list[tuple[str, str]]:
    return [(audit["kind"], audit["verdict"]) for audit in evidence["audits"]]


def test_an_answer_is_approved_when_both_validators_approve_it(world: World, tmp_path: Path) -> None:
    ended, evidence = answer(world, tmp_path, Model(SQL))
    assert (ended.answer.status, kinds(evidence)) == ("approved", [("candidate", "approved"), ("answer", "approved")])
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    assert {spent["stage"]: spent["calls"] for spent in evidence["usage"]} == {
        "contract": 1, "agent": 1, "process": 1, "verify": 1
    }  # fmt: skip
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "What validators said" in report and "the rows are those asked for" in report


def test_d10_a_rejection_gives_the_solver_issues_and_actions_and_nothing_else_and_the_next_candidate_is_audited(
    world: World, tmp_path: Path
) -> None:
    model = Model(WRONG, SQL, process=once(rejected("a category is missing", "count the categories")))
    ended, evidence = answer(world, tmp_path, model)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER and ended.answer.status == "approved"
    assert kinds(evidence) == [("candidate", "rejected"), ("candidate", "approved"), ("answer", "approved")]
    assert (model.asked["ProcessReply"], model.asked["Action"]) == (2, 2), "turns before the audit are paid once"
    told = [body for body in world.endpoint.requests if schema(body) == "Action"][-1]["messages"][-1]["content"]
    assert "a category is missing" in told and "count the categories" in told and "Not accepted" in told
    assert "SECRET" not in json.dumps([b for b in world.endpoint.requests if schema(b) == "Action"])
    assert [candidate["rows"] for candidate in evidence["solving"]["candidates"]] == [1, 2]
    spent, made = ended.spend.total(), world.endpoint.calls
    assert (spent.calls, spent.journaled) == (made, 0), "what the run paid for and read again is counted once"
    assert sum(stage["calls"] for stage in evidence["usage"]) == made == 6
    assert {name: sum(stage[name] for stage in evidence["usage"]) for name in ("tokens_in", "tokens_out")} == {
        "tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out
    }  # fmt: skip
    tools = [step for step in evidence["solving"]["steps"] if step["kind"] == "tool"]
    assert [(step["name"], step["ok"]) for step in tools][-2:] == [("submit", False), ("submit", True)], (
        "d1: all are kept"
    )
    assert tools[-1]["arguments"]["sql"] == SQL


def test_d5_rejections_end_with_the_review_budget_and_the_last_answer_is_told_as_rejected(
    world: World, tmp_path: Path
) -> None:
    model = Model(WRONG, SQL, SQL.replace("ORDER BY ALL", ""), process=lambda _: rejected("not what was asked"))
    ended, evidence = answer(world, tmp_path, model)
    assert kinds(evidence) == [("candidate", "rejected")] * 2
    assert ended.answer.status in ("rejected", "not_assessed") and (tmp_path / "out" / "answer.csv").exists()
    assert model.asked["FormReply"] == 0 and model.asked["Action"] <= 4


def test_d5_a_repair_of_the_form_alone_keeps_the_approval_of_the_process(world: World, tmp_path: Path) -> None:
    form = json.dumps({"issues": [{"kind": "columns", "text": "call the second column orders"}], "valid": False})
    model = Model(SQL, SQL.replace("AS n", "AS orders"), form=once(form))
    ended, evidence = answer(world, tmp_path, model)
    assert kinds(evidence) == [
        ("candidate", "approved"),
        ("answer", "rejected"),
        ("candidate", "approved"),
        ("answer", "approved"),
    ]
    assert (ended.answer.status, model.asked["ProcessReply"]) == ("approved", 1)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8").startswith("category,orders\n")


def test_d5_a_changed_answer_is_audited_again(world: World, tmp_path: Path) -> None:
    form = json.dumps({"issues": [{"kind": "rows", "text": "leave out the rare ones"}], "valid": False})
    model = Model(SQL, WRONG, form=once(form))
    _, evidence = answer(world, tmp_path, model)
    assert model.asked["ProcessReply"] == 2
    prints = [audit["fingerprint"] for audit in evidence["audits"] if audit["kind"] == "candidate"]
    assert len(set(prints)) == 2


def test_d5_a_checkpoint_that_passes_approves_no_answer(world: World, tmp_path: Path) -> None:
    model = Model(SQL, looks=4)
    ended, evidence = answer(world, tmp_path, model, "[process]\ncheckpoint_model_interval = 2\n")
    assert kinds(evidence) == [("checkpoint", "approved")] * 2 + [("candidate", "approved"), ("answer", "approved")]
    assert (model.asked["ProcessReply"], model.asked["Action"]) == (3, 5) and ended.answer.status == "approved"


def test_d10_a_checkpoint_that_finds_something_tells_the_solver_and_the_run_goes_on(
    world: World, tmp_path: Path
) -> None:
    model = Model(SQL, looks=3, process=once(rejected("the products were not looked at", "describe products")))
    ended, evidence = answer(world, tmp_path, model, "[process]\ncheckpoint_model_interval = 2\n")
    assert kinds(evidence)[0] == ("checkpoint", "rejected") and kinds(evidence)[-1] == ("answer", "approved")
    told = [body for body in world.endpoint.requests if schema(body) == "Action"][2]["messages"][-1]["content"]
    assert "describe products" in told and "SECRET" not in told and ended.answer.status == "approved"


@pytest.mark.parametrize(
    "fault",
    [
        lambda _: Status(500, "down"),
        lambda _: Status(400, "no such model"),
        lambda _: Drop(),
        lambda _: Delay(3, "{}"),
        lambda _: "",
        lambda _: "I think it is fine.",
        lambda _: '{"semantic_ledger": {}, "issues": [], "required_next_actions": [], "valid": "false"}',
        lambda _: '{"semantic_ledger": {}, "issues": [], "required_next_actions": [], "valid": true}',
        lambda _: '{"valid": null}',
    ],
    ids=["500", "400", "dropped", "slow", "empty", "prose", "false as text", "no evidence", "null"],
)
@pytest.mark.parametrize("which", ["process", "form"])
def test_d11_a_validator_that_fails_approves_nothing_and_stops_nothing(
    world: World, tmp_path: Path, fault: Reply, which: str, request: pytest.FixtureRequest
) -> None:
    if which == "form" and "no evidence" in request.node.callspec.id:
        pytest.skip("a validator of the form cites none")
    limits = "[roles.process]\ntimeout_seconds = 1\nattempts = 2\n[roles.verify]\ntimeout_seconds = 1\nattempts = 2\n"
    model = Model(SQL, **{which: fault})
    ended, evidence = answer(world, tmp_path, model, f"{limits}[retry]\nfirst_seconds = 0.01\nlongest_seconds = 0.02\n")
    assert ended.answer.status == "not_assessed"
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    failed = [audit for audit in evidence["audits"] if audit["verdict"] == "not_assessed"]
    assert failed and all(audit["problem"] for audit in failed)
    assert failed[0]["problem"] in ended.answer.reason


@pytest.mark.parametrize("which", ["tasks.solve.process._package", "tasks.solve.auditing.form.request"])
def test_d11_a_validator_that_breaks_in_our_own_code_approves_nothing_and_stops_nothing(
    world: World, tmp_path: Path, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("out of order")

    with monkeypatch.context() as patched:
        patched.setattr(which, broken)
        ended, evidence = answer(world, tmp_path, Model(SQL))
    assert ended.answer.status == "not_assessed" and "RuntimeError: out of order" in ended.answer.reason
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    assert evidence["audits"][-1]["verdict"] == "not_assessed"
    again, _ = answer(world, tmp_path, Model(SQL))
    assert again.answer.status == "approved", "what broke is not kept"


def test_a_check_that_breaks_is_said_and_the_answer_is_not_approved(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_check(_: Any) -> Any:
        raise KeyError("column")

    monkeypatch.setattr("tasks.solve.checking.look._READ", (broken_check,))
    ended, evidence = answer(world, tmp_path, Model(SQL))
    assert [(c["name"], c["outcome"]) for c in evidence["checks"] if c["name"] == "unmade check"] == [
        ("unmade check", "noted")
    ]
    assert ended.answer.status == "partial" and "'broken check' could not be made" in ended.answer.reason


def test_d5_checkpoints_that_pass_without_an_answer_approve_nothing(world: World, tmp_path: Path) -> None:
    settings = "[process]\ncheckpoint_model_interval = 2\n[agent]\nturns = 5\n"
    ended, evidence = answer(world, tmp_path, Model(SQL, looks=99), settings)
    assert ("checkpoint", "approved") in kinds(evidence) and ("candidate", "approved") not in kinds(evidence)
    assert ended.answer.status in ("partial", "failed", "not_assessed")


def ambiguous(*evidence: list[str]) -> Reply:
    """A process validator that approves, and names two readings with the evidence for each."""

    def reply(body: dict[str, Any]) -> str:
        said = json.loads(approved(body))
        texts = (("per category", SQL), ("only frequent categories", WRONG))
        readings = [{"text": t, "sql": q, "evidence": e} for (t, q), e in zip(texts, evidence, strict=True)]
        said["semantic_ledger"]["unresolved_ambiguities"] = [{"text": "which categories", "readings": readings}]
        return json.dumps(said)

    return reply


def test_two_open_readings_stand_in_the_report_with_their_queries_and_the_answer_says_which_it_follows(
    world: World, tmp_path: Path
) -> None:
    ended, evidence = answer(world, tmp_path, Model(SQL, process=ambiguous(["knowledge:3"], [])))
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert ended.answer.status == "approved"
    assert "HAVING count(*) &gt; 1" in report and "only frequent categories" in report and "· the answer" in report
    assert [doubt for doubt in evidence["doubts"] if "two ways" in doubt] == [
        "the question can be read in two ways, and no source decides: per category or only frequent categories; "
        "the answer follows: per category"
    ]


def test_the_better_supported_reading_is_the_one_that_is_published(world: World, tmp_path: Path) -> None:
    model = Model(WRONG, SQL, process=ambiguous(["knowledge:3"], []))
    ended, evidence = answer(world, tmp_path, model)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER and ended.answer.status == "approved"
    assert kinds(evidence) == [("candidate", "rejected"), ("candidate", "approved"), ("answer", "approved")]
    told = [body for body in world.endpoint.requests if schema(body) == "Action"][-1]["messages"][-1]["content"]
    assert "per category" in told and "GROUP BY" not in told.split("Issues:")[1]


def test_a_reading_that_as_much_speaks_for_stays(world: World, tmp_path: Path) -> None:
    ended, evidence = answer(world, tmp_path, Model(WRONG, SQL, process=ambiguous([], [])))
    assert kinds(evidence)[0] == ("candidate", "approved") and ended.answer.status == "approved"
    assert len(evidence["solving"]["candidates"]) == 1


def test_without_validators_nothing_is_asked_and_nothing_is_approved(world: World, tmp_path: Path) -> None:
    model = Model(SQL)
    ended, evidence = answer(world, tmp_path, model, "[process]\nenabled = false\n[verify]\nenabled = false\n")
    assert (ended.answer.status, evidence["audits"]) == ("not_assessed", [])
    assert set(model.asked) == {"ContractReply", "Action"}


def test_a_second_run_pays_for_no_audit_again(world: World, tmp_path: Path) -> None:
    model = Model(WRONG, SQL, process=once(rejected("a category is missing", "count the categories")))
    first, _ = answer(world, tmp_path, model)
    before = world.endpoint.calls
    second, _ = answer(world, tmp_path, model)
    assert world.endpoint.calls == before and first.answer == second.answer and before > ASKED
