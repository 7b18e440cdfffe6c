"""Any text as a model's reply gives a value or a told problem: no other exception, in any module that reads replies."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import anyreply
import pytest
from extraction import PIECE
from hypothesis import given
from hypothesis import strategies as st
from shop import PROFILE

from tasks.core.llm import door, structured
from tasks.core.llm.request import Reply
from tasks.core.llm.structured import Invalid
from tasks.core.llm.votes import reply_model
from tasks.core.models.answer import Contract
from tasks.core.models.document import Plan
from tasks.core.models.review import Ledger
from tasks.core.models.run import Usage
from tasks.core.models.semantics import Knowledge
from tasks.document.extracting import entries
from tasks.document.extracting.findings import findings
from tasks.document.planning import check, mend
from tasks.document.planning.reply import PlanReply
from tasks.intake.knowledge import parse
from tasks.solve import contract as writing
from tasks.solve.auditing import form, reply, short
from tasks.solve.contract import ContractReply
from tasks.solve.filter import FilterReply
from tasks.solve.solving.styles import Action
from tasks.solve.terms import TermsReply

MODELS = (
    PlanReply,
    ContractReply,
    TermsReply,
    FilterReply,
    Action,
    form.FormReply,
    short.ShortReply,
    reply.ProcessReply,
)
DOCUMENT = [
    "# Sales",
    "",
    "Record A1 was sold at 1.20 euros.",
    "",
    "Record A2: 3 million euros.",
    "",
    "| a | b |",
    "|---|---|",
    "",
]
KNOWLEDGE = parse("# k\n\n## sales\n- id: number of the record\n- price (unit: EUR): price\n", "knowledge.md")
IDS = ("q1", "knowledge:3", "candidate")


@pytest.mark.parametrize("model", [*MODELS, reply_model("table")], ids=lambda model: model.__name__)
def test_a_reply_is_read_or_refused_with_words_for_the_model(model: Any) -> None:
    @given(text=anyreply.texts(model) | st.text(max_size=60))
    def read(text: str) -> None:
        try:
            value = structured.parse(text, model)
        except Invalid as problem:
            assert str(problem).strip()
        else:
            assert isinstance(value, model) and value.model_dump_json()

    read()


@given(value=anyreply.of(PlanReply))
def test_any_plan_is_complained_about_or_mended(value: dict[str, Any]) -> None:
    try:
        said = structured.parse(json.dumps(value), PlanReply)
    except Invalid:
        return
    for knowledge in (KNOWLEDGE, Knowledge()):
        checked = check.check(said, "sales", DOCUMENT, knowledge)
        assert all(problem.strip() for problem in checked.problems)
        assert not checked.problems or check.complaint(checked.problems)
        plan = mend.mend(checked, "sales", DOCUMENT, knowledge)
        assert plan.failed or (plan.key in {column.name for column in plan.columns} and plan.sections), plan
        assert all(1 <= s.start_line <= s.end_line <= len(DOCUMENT) for s in plan.sections if not plan.failed)
        assert Plan.model_validate_json(plan.model_dump_json()) == plan


@given(text=anyreply.texts(entries.schema(PIECE)), finish=st.sampled_from(["stop", "length"]))
def test_any_entries_give_values_that_stand_in_their_line_or_are_not_found(text: str, finish: str) -> None:
    try:
        read = entries.read(Reply(text, finish=finish))
    except Invalid as problem:
        assert str(problem).strip()
        return
    said = [*((entry, False) for entry in read.records), *((entry, True) for entry in read.corrections)]
    lines = dict(PIECE.lines)
    made, problems = findings(PIECE, said)
    assert all(finding.quote in lines[finding.line] for finding in made if finding.found)
    assert {finding.column for finding in made} <= {"price", "before"} and all(problems)


@given(
    process=anyreply.texts(reply.ProcessReply),
    brief=anyreply.texts(short.ShortReply),
    about=anyreply.texts(form.FormReply),
)
def test_no_reply_of_a_validator_is_a_crash_and_none_that_is_damaged_approves(
    process: str, brief: str, about: str
) -> None:
    readers: list[tuple[str, Any]] = [
        (process, lambda text: reply.read(text, IDS, 5, Ledger())),
        (brief, lambda text: short.read(text, IDS)),
        (about, form.read),
    ]
    for text, read in readers:
        try:
            judged = read(text)
        except Invalid as problem:
            assert str(problem).strip()
        else:
            assert judged.verdict in ("approved", "rejected", "not_assessed")
            assert judged.verdict != "approved" or "true" in text.lower()
            assert judged.verdict != "rejected" or judged.issues or getattr(judged, "actions", ())


@given(value=anyreply.of(ContractReply))
def test_any_contract_names_columns_of_ours_only(value: dict[str, Any]) -> None:
    try:
        said = structured.parse(json.dumps(value), ContractReply)
    except Invalid:
        return

    async def ask(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(value=said, usage=Usage())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "ask", ask)
        wanted: Any = SimpleNamespace(enabled=True)
        question: Any = SimpleNamespace(text="How many?")
        brief: Any = SimpleNamespace(text="orders")
        made: Contract = asyncio.run(writing.write_contract.function(question, brief, PROFILE, wanted))
    assert len(made.columns) == len(said.columns) and made.written_by == "model"
    assert Contract.model_validate_json(made.model_dump_json()) == made
