"""One cell for each record and column, with everything that was said about it."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter

import pytest
from document_world import KEY, column, piece, plan, said
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.models.document import Finding, Merged, MergedCell, Plan, PlanSection, SliceResult
from tasks.document.merge import merge_findings, raws_of

BEFORE, RECEIVED = column("sum_before", "integer", "股"), column("sum_before_received", "integer", "股")
PLAN = plan(BEFORE, RECEIVED)


def merge(made: Plan, *results: SliceResult) -> Merged:
    kept: list[Merged] = []

    async def run() -> None:
        kept.append(await merge_findings.function(made, results))

    asyncio.run(run())  # it writes out the result of what it runs, which takes seconds for many cells
    return kept[0]


def cell(merged: Merged, record: str, name: str) -> MergedCell | None:
    return next((c for c in merged.cells if (c.record_id, c.column) == (record, name)), None)


def raws(found: MergedCell | None) -> list[str]:
    return [source.raw for source in found.sources] if found else []


def test_columns_that_look_alike_never_overwrite_each_other() -> None:
    giver, taker = said("R1", "sum_before", "25,390,048", 4), said("R1", "sum_before_received", "0", 4)
    for order in ((giver, taker), (taker, giver)):
        merged = merge(PLAN, *(piece(finding) for finding in order))
        assert raws(cell(merged, "R1", "sum_before")) == ["25,390,048"]
        assert raws(cell(merged, "R1", "sum_before_received")) == ["0"]


def test_records_that_no_reply_told_of_are_named_with_their_section() -> None:
    heard = piece(said("R1", "sum_before", "5", 4)).model_copy(update={"unlisted": ("Ｒ2",)})
    assert merge(PLAN, heard).unread == (("R2", heard.section),)


def test_b10_a_second_value_for_a_cell_is_kept_beside_the_first_as_a_conflict() -> None:
    merged = merge(PLAN, piece(said("R1", "sum_before", "25,390,048", 4)), piece(said("R1", "sum_before", "0", 9)))
    found = cell(merged, "R1", "sum_before")
    assert found and found.conflict and raws(found) == ["25,390,048", "0"]


@pytest.mark.parametrize(
    ("sources", "held", "conflict"),
    [
        ([("5", 3, False), ("6", 9, True)], ["6"], False),
        ([("6", 9, True), ("5", 3, False)], ["6"], False),
        ([("5", 3, False), ("6", 9, True), ("7", 12, True)], ["7"], False),
        ([("5", 3, False), ("6", 9, True), ("6", 30, False)], ["6", "6"], False),
        ([("5", 3, False), ("6", 9, True), ("5", 30, False)], ["6", "5"], True),
        ([("5", 9, False), ("6", 9, True)], ["6"], False),
        ([("6", 9, True), ("7", 9, True)], ["6", "7"], True),
        ([("5", 3, False), ("5", 8, False)], ["5", "5"], False),
        ([("5", 3, False), ("5", 3, True)], ["5"], False),
    ],
)
def test_the_last_correction_and_what_follows_it_holds(
    sources: list[tuple[str, int, bool]], held: list[str], conflict: bool
) -> None:
    findings = [said("R1", "sum_before", raw, line, corrects=corrects) for raw, line, corrects in sources]
    found = cell(merge(PLAN, piece(*findings)), "R1", "sum_before")
    assert found and [source.raw for source in found.holding] == held and found.conflict is conflict
    assert {(s.raw, s.line) for s in found.sources} == {(raw, line) for raw, line, _ in sources}


def test_what_does_not_stand_in_the_text_never_becomes_a_value() -> None:
    merged = merge(PLAN, piece(said("R1", "sum_before", "42", 4, found=False), said("R2", "sum_before", "7", 5)))
    assert cell(merged, "R1", "sum_before") is None and raws(cell(merged, "R2", "sum_before")) == ["7"]
    assert merged.problems == ("1 value stands in no statement of the text and was left out (sum_before of R1: '42')",)


def test_b10_facts_of_a_record_from_many_slices_meet_in_its_row() -> None:
    two = (
        PlanSection(id="a", title="A", start_line=1, end_line=9, columns=(KEY, "sum_before")),
        PlanSection(id="b", title="B", start_line=10, end_line=20, columns=(KEY, "sum_before_received")),
    )
    merged = merge(
        PLAN.model_copy(update={"sections": two}),
        piece(said("R1", "sum_before", "5", 3), section="a"),
        piece(said("R２".replace("２", "2"), "sum_before", "6", 4), section="a"),
        piece(said(" R1", "sum_before_received", "8", 12), section="b"),
    )
    assert merged.records == ("R1", "R2") and (merged.sections_good, merged.sections_all) == (2, 2)
    assert {(c.record_id, c.column) for c in merged.cells if c.column != KEY} == {
        ("R1", "sum_before"),
        ("R2", "sum_before"),
        ("R1", "sum_before_received"),
    }


def test_records_and_columns_that_the_plan_does_not_have_are_counted() -> None:
    merged = merge(PLAN, piece(said("R9", "sum_before", "5", 3), said("R1", "colour", "red", 3)))
    assert [c for c in merged.cells if c.column != KEY] == []
    assert merged.problems == (
        "1 value belongs to a column that the plan does not have (colour of R1: 'red')",
        "1 value belongs to a record that the document does not name (sum_before of R9: '5')",
    )


def test_every_value_that_was_left_out_is_named_one_that_came_again_with_how_often_and_of_many_the_first() -> None:
    lost = [
        said("R9", "sum_before", "5", 3),
        said("R9", "sum_before", "6", 4),
        said("R1", "sum_before", "4二", 3, found=False),
    ]
    again = said("R1", "sum_before", "4二", 9, found=False)
    assert merge(PLAN, piece(*lost), piece(again)).problems == (
        "2 values belong to records that the document does not name (sum_before of R9: '5', sum_before of R9: '6')",
        "2 values stand in no statement of the text and were left out (sum_before of R1: '4二' (2 times))",
    )
    many = merge(PLAN, piece(*(said(f"R{10 + n}", "sum_before", str(n), 3) for n in range(20)))).problems[0]
    assert many.startswith("20 values belong") and many.count("sum_before of") == 12 and many.endswith(" and 8 more)")


def test_what_was_not_asked_and_what_was_not_found_is_handed_on() -> None:
    heard = piece(said("R1", "sum_before", "42", 4, found=False), said("R9", "sum_before", "43", 4, found=False))
    merged = merge(PLAN, heard)
    assert merged.unfound == (("R1", "sum_before", "42"),) and merged.unasked == (("R2", "s1"),)


def test_an_id_in_full_width_signs_is_the_same_record() -> None:
    made = plan(BEFORE, records=("7", "８", "７", "8"))
    same = merge(
        made, piece(said("7", "sum_before", "5", 3), said("７", "sum_before", "5", 9), said("8", "sum_before", "1", 4))
    )
    assert same.records == ("7", "８") and same.unasked == ()
    found = cell(same, "7", "sum_before")
    assert found and raws(found) == ["5", "5"] and not found.conflict
    assert raws(cell(same, "８", "sum_before")) == ["1"] and raws(cell(same, "7", KEY)) == ["7"]


def test_a_key_has_the_place_where_code_found_it() -> None:
    found = cell(merge(PLAN, piece()), "R2", KEY)
    assert found and [(s.raw, s.line, s.section) for s in found.sources] == [("R2", 2, "s1")]


@pytest.mark.parametrize(
    ("results", "problem"),
    [
        ([piece(said("R1", "sum_before", "5", 3))], ""),
        ([piece(), piece(failed=True)], "1 of 2 slices failed"),
        ([piece(unlisted=("R2",))], "1 record not listed (R2)"),
        ([], "nothing was extracted from it"),
    ],
)
def test_a_section_with_trouble_is_not_good(results: list[SliceResult], problem: str) -> None:
    merged = merge(PLAN, *results)
    assert merged.sections_good == (not problem)
    assert merged.problems == ((f"section s1 (all): {problem}",) if problem else ())


FINDINGS = st.builds(
    Finding,
    record_id=st.sampled_from(["R1", "R2", "R9"]),
    column=st.sampled_from(["sum_before", "sum_before_received", "colour"]),
    raw=st.sampled_from(["0", "5", "5.0", "六百九十七万"]),
    quote=st.just("q"),
    line=st.integers(1, 4),
    corrects=st.booleans(),
    found=st.booleans(),
)


@given(st.lists(st.lists(FINDINGS, max_size=6), max_size=6), st.randoms())
def test_no_finding_is_lost_and_the_order_of_slices_does_not_matter(
    slices: list[list[Finding]], chance: random.Random
) -> None:
    results = [piece(*findings) for findings in slices]
    merged = merge(PLAN, *results)
    chance.shuffle(results)
    assert merge(PLAN, *results) == merged
    kept = {(c.record_id, c.column, s.raw, s.line) for c in merged.cells for s in c.sources if c.column != KEY}
    usable = [f for fs in slices for f in fs if f.found and f.record_id != "R9" and f.column != "colour"]
    assert kept == {(f.record_id, f.column, f.raw, f.line) for f in usable}
    corrected = {(c.record_id, c.column, s.line) for c in merged.cells for s in c.sources if s.corrects}
    assert corrected == {(f.record_id, f.column, f.line) for f in usable if f.corrects}
    told = Counter({p.split(" ", 1)[1].split(" (")[0]: int(p.split()[0]) for p in merged.problems if p[0].isdigit()})
    assert told.total() == sum(map(len, slices)) - len(usable)


@pytest.mark.slow
def test_ten_thousand_records_merge_in_seconds() -> None:
    names = [column(f"c{i}") for i in range(10)]
    records = tuple(f"R{i}" for i in range(10_000))
    made = plan(*names, records=records, lines=10_000)
    results = [
        piece(*(said(r, c.name, str(n), n) for n, r in enumerate(records[at : at + 25], at) for c in names))
        for at in range(0, 10_000, 25)
    ]
    started = time.monotonic()
    merged = merge(made, *results)
    assert len(merged.cells) == 110_000 and len(raws_of(merged, "c3")) == 10_000
    assert time.monotonic() - started < 30
