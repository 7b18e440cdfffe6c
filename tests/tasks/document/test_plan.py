"""Plans by a scripted model over real HTTP, checked and mended by code, and plans by rules."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from endpoint import Endpoint, Status

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.document import Converted, Plan
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import load
from tasks.document.plan import plan_document
from tasks.intake.knowledge import parse

IDS = ("007", "019", "023", "031", "044")
KNOWLEDGE = """# Notes
## Tables
### orders_note
- order_no: Order number, primary key, string with leading zeros
- customer: Name of the customer
- amount: Amount of the order [EUR]
- discount: Discount on the list price [ratio]
- shipped: Date of shipping
## Conventions
1. Ratios are stored as decimals: 5% is 0.05.
"""
NAMES = ("Abel Mason", "Carla Benoit", "Dario Quinn", "Ewa Lorenz", "Femi Okafor")


def text_of(ids: tuple[str, ...] = IDS) -> str:
    first = [
        f"Order {id} was placed by {NAMES[n % 5]} for EUR {n + 1}2.50, with a discount of {n + 2}%."
        for n, id in enumerate(ids)
    ]
    second = [f"On {n % 28 + 1} March 2024 order no. {id} was shipped from the warehouse." for n, id in enumerate(ids)]
    end = f"In all {len(ids)} orders were placed."
    return "\n".join(["Orders of the spring", "", *first, "", "Now the shipping.", "", *second, "", end])


TEXT = text_of()
GOOD: dict[str, Any] = {
    "key": "order_no",
    "columns": [
        {"name": name, "doc_meaning": f"{name} as told", "task_meaning": name, "unit": "", "type": kind, "role": "data"}
        for name, kind in (("order_no", "text"), ("customer", "text"), ("amount", "number"), ("discount", "number"),
                           ("shipped", "date"))
    ],
    "sections": [
        {"id": "s1", "title": "orders", "start_line": 3, "end_line": 7, "columns": ["order_no", "customer", "amount", "discount"]},
        {"id": "s2", "title": "shipping", "start_line": 11, "end_line": 15, "columns": ["order_no", "shipped"]},
    ],
    "anchors": ["[Oo]rder (?:no\\. )?(\\d{3})\\b"],
    "records": list(IDS),
    "records_complete": True,
}  # fmt: skip


def plan(
    store: Store, replies: Any, text: str = TEXT, knowledge: str = KNOWLEDGE, **overrides: Any
) -> tuple[Plan, Endpoint]:
    ref = store.put(text.encode(), "orders_note.md")
    document = Converted(stem="orders_note", paths=("doc/orders_note.md",), status="as_is", text=ref)
    script = [reply if not isinstance(reply, dict) else json.dumps(reply) for reply in replies]
    with Endpoint(script) as server:
        settings = load(
            overrides={
                "endpoints": {"main": {"url": server.url, "model": "scripted"}},
                "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
                **overrides,
            }
        )
        with door.use(Door(settings, store, Meter(settings.budget))):
            told = parse(knowledge, "knowledge.md", frozenset({"orders_note"}))
            return asyncio.run(plan_document.function(document, told, settings.plan)), server


def changed(**parts: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(GOOD)), **parts}


def section(index: int, **parts: Any) -> dict[str, Any]:
    sections = json.loads(json.dumps(GOOD["sections"]))
    sections[index] |= parts
    return changed(sections=sections)


def test_b6_a_good_plan_is_taken_as_it_is_and_its_records_are_counted_by_code(store: Store) -> None:
    made, server = plan(store, [GOOD])
    assert not made.problems and not made.failed and server.calls == 1
    assert made.universe == IDS
    assert [(s.start_line, s.end_line) for s in made.sections] == [(3, 7), (11, 15)]
    assert [m.line for m in made.mentions if m.record_id == "019"] == [4, 12]
    assert made.key == "order_no" and made.column("order_no").role == "key" and made.written_by == "model"


def test_type_and_unit_that_the_knowledge_states_hold_whatever_the_model_says(store: Store) -> None:
    wrong = changed()
    wrong["columns"][3] |= {"unit": "percent", "type": "text"}
    wrong["columns"][0] |= {"type": "integer"}
    made, _ = plan(store, [wrong])
    assert (made.column("discount").unit, made.column("discount").type) == ("ratio", "number")
    assert made.column("order_no").type == "text", "a key keeps its zeros"


def test_b5_the_prompt_has_numbered_lines_the_fields_and_the_conventions(store: Store) -> None:
    _, server = plan(store, [GOOD])
    prompt = server.requests[0]["messages"][0]["content"]
    assert "0003\tOrder 007 was placed" in prompt and "discount | number | ratio | Discount on the list price" in prompt
    assert "Ratios are stored as decimals" in prompt and "orders_note" in prompt


FAULTS: list[tuple[dict[str, Any], str]] = [
    (changed(sections=[]), "sections is empty"),
    (changed(anchors=[]), "anchors is empty"),
    (changed(key="number"), "the key 'number' is not among the columns"),
    (section(0, end_line=3), "holds only record '007' of 5"),
    (section(0, start_line=7, end_line=3), "lines must be in order"),
    (section(1, end_line=99), "between 1 and 17"),
    (section(1, id="s1"), "section id 's1' must be unique"),
    (section(1, columns=["shipped", "order_no"]), "must have the key 'order_no' as its first column"),
    (section(1, columns=["order_no", "shipped", "amount"]), "more than one section, give each to the one that tells it: amount"),
    (section(1, columns=["order_no"]), "columns that belong to no section: shipped"),
    (section(1, columns=["order_no", "shipped", "carrier"]), "sections name columns that are not among the columns: carrier"),
    (changed(columns=GOOD["columns"][:4]), "the knowledge lists fields for this table that are not among the columns: shipped"),
    (changed(columns=[*GOOD["columns"], {**GOOD["columns"][1], "name": "Ship To"}]), "column name 'Ship To' is neither snake_case"),
    (changed(columns=[*GOOD["columns"][:4], {**GOOD["columns"][4], "doc_meaning": " "}]), "needs both a doc_meaning and a task_meaning"),
    (changed(columns=[*GOOD["columns"][:4], {**GOOD["columns"][4], "type": "when"}]), "has the type 'when'"),
    (changed(anchors=["order (\\d+"]), "is not usable"),
    (changed(anchors=["[Oo]rder \\d+"]), "it has 0 groups"),
    (changed(anchors=["(\\d*)"]), "it matches an empty text"),
    (changed(anchors=["Bestellung (\\d+)"]), "the anchors find no id in the text"),
    (changed(anchors=["Order (\\d{3})"]), "section 's2' (11–15) holds no record"),
    (changed(records=[*IDS, "050"]), "records lists ids that no anchor finds inside a section: 050"),
    (changed(records=list(IDS[:3])), "the anchors find 2 ids that records does not list: 031, 044"),
    (changed(records=[*IDS, "007"]), "records lists ids twice: 007"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "reason"), FAULTS, ids=[reason for _, reason in FAULTS])
def test_b7_a_fault_is_told_to_the_model_which_then_mends_it(store: Store, bad: dict[str, Any], reason: str) -> None:
    made, server = plan(store, [bad, GOOD])
    assert server.calls == 2 and reason in server.requests[1]["messages"][2]["content"]
    assert not made.problems and made.universe == IDS and made.usage.calls == 2


def test_b7_all_faults_are_told_at_once(store: Store) -> None:
    bad = section(0, end_line=3, columns=["customer", "amount"]) | {"records": ["050"], "key": "order_no"}
    _, server = plan(store, [bad, GOOD])
    told = server.requests[1]["messages"][2]["content"]
    for reason in (
        "holds only record",
        "as its first column",
        "no section: discount",
        "no anchor finds inside a section: 050",
    ):
        assert reason in told
    assert server.calls == 2


def test_a_summary_that_names_another_id_adds_no_record(store: Store) -> None:
    text = TEXT.replace("orders were placed.", "orders were placed; order 999 never was.")
    made, server = plan(store, [GOOD, GOOD], text=text)
    assert made.universe == IDS and not made.failed and server.calls == 2
    assert made.problems and "only outside every section's range: 999" in made.problems[0]


def test_code_mends_what_needs_no_guess_after_the_retry(store: Store) -> None:
    bad = section(0, end_line=3)
    bad["sections"][1] |= {"id": "s1", "end_line": 99, "columns": ["shipped", "amount"]}
    bad["columns"] = bad["columns"][:4]
    made, server = plan(store, [bad, bad])
    assert server.calls == 2 and not made.failed and made.problems
    assert set(IDS) <= set(made.universe)
    assert made.sections[0].end_line == 10 and len({s.id for s in made.sections}) == len(made.sections)
    owners = {name: s.id for s in made.sections for name in s.columns[1:]}
    assert set(owners) == {"customer", "amount", "discount", "shipped"}
    assert all(s.columns[0] == "order_no" for s in made.sections)
    assert owners["amount"] == "rest", "a contested column is sought in all records"
    assert owners["shipped"] == made.sections[1].id and owners["discount"] == made.sections[0].id


def test_anchors_that_find_nothing_are_replaced_by_those_that_code_finds(store: Store) -> None:
    bad = changed(anchors=["Bestellung (\\d+)"])
    made, _ = plan(store, [bad, bad])
    assert not made.failed and set(IDS) <= set(made.universe)
    assert any("found by code" in problem for problem in made.problems)


def test_a_plan_that_cannot_be_mended_has_failed_with_its_reasons(store: Store) -> None:
    bad = changed(anchors=["Bestellung (\\d+)"], columns=[])
    made, _ = plan(store, [bad, bad], text="Nothing is numbered here.\nNor here.", knowledge="")
    assert made.failed and "columns is empty" in made.problems


@pytest.mark.parametrize(("status", "unsettled"), [(400, "stopped"), (503, "transient")])
def test_without_a_reply_the_plan_has_failed_and_is_not_final(store: Store, status: int, unsettled: str) -> None:
    made, _ = plan(store, [Status(status, "no")] * 4)
    assert made.failed and made.unsettled == unsettled and made.problems


def test_a_document_without_text_has_no_plan(store: Store) -> None:
    scan = Converted(stem="scan", paths=("scan.pdf",), status="image_only", reason="only images")
    made = asyncio.run(plan_document.function(scan, Knowledge(), load().plan))
    assert made.failed and "only images" in made.problems[0]


def test_an_anchor_that_never_ends_is_stopped_and_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.document.records.anchors._SEARCH_SECONDS", 0.2)
    slow = changed(anchors=["((?:a ?)+)+[0-9]$", *GOOD["anchors"]])
    text = TEXT.replace("Now the shipping.", "a " * 4000)
    made, server = plan(store, [slow, GOOD], text=text)
    assert "takes too long" in server.requests[1]["messages"][2]["content"] and made.universe == IDS


def test_ids_that_are_too_long_to_be_ids_are_counted_and_told(store: Store) -> None:
    text = TEXT.replace("Now the shipping.", f"Note {'x' * 81} and note {'y' * 80}.")
    made, server = plan(store, [changed(anchors=[*GOOD["anchors"], "[Nn]ote (\\w+)"]), GOOD], text=text)
    assert "finds 1 ids of more than 80 characters" in server.requests[1]["messages"][2]["content"]
    assert made.universe == IDS


def test_a_long_document_is_planned_from_a_sample_and_its_records_are_counted_in_the_whole(store: Store) -> None:
    ids = tuple(f"{number:05d}" for number in range(3, 6003, 3))
    reply = changed(records=list(ids[:30]), records_complete=False, anchors=["[Oo]rder (?:no\\. )?(\\d{5})\\b"])
    reply["sections"][0] |= {"start_line": 3, "end_line": 2002}
    reply["sections"][1] |= {"start_line": 2006, "end_line": 4005}
    made, server = plan(store, [reply], text=text_of(ids))
    prompt = server.requests[0]["messages"][0]["content"]
    assert made.universe == ids and not made.problems
    assert len(prompt) < 40_000 and "A sample of the document, which has 4007 lines" in prompt
    assert "0003\tOrder 00003" in prompt and "99999: 2000 different" in prompt


def test_rules_plan_without_any_call_from_the_knowledge_and_the_text(store: Store) -> None:
    made, server = plan(store, [], plan={"writer": "rules"}, text=text_of(tuple(f"0{n}7" for n in range(10, 22))))
    assert server.calls == 0 and not made.failed and made.written_by == "rules"
    assert made.universe == tuple(f"0{n}7" for n in range(10, 22))
    owners = {name: s.id for s in made.sections for name in s.columns[1:]}
    assert owners == {"amount": "s1", "discount": "s1", "shipped": "s2", "customer": "rest"}, (
        "no word tells of customers"
    )
    assert [s.start_line for s in made.sections] == [made.sections[0].start_line, 18, made.sections[0].start_line]


def test_rules_need_the_fields_of_the_table(store: Store) -> None:
    made, _ = plan(store, [], knowledge="# Nothing", plan={"writer": "rules"})
    assert made.failed and "lists no fields" in made.problems[0]


def test_a_plan_with_more_columns_than_a_table_holds_has_failed_before_they_are_paid_for(store: Store) -> None:
    fields = "\n".join(f"- field_{n}: number {n}" for n in range(2001))
    made, _ = plan(store, [GOOD, GOOD], knowledge=f"## orders_note\n\n{fields}\n")
    assert made.failed and made.problems[0] == "the plan has 2,006 columns, and a table holds 2,000"
