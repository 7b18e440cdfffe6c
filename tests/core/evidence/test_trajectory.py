"""Steps of an attempt → evidence package (parity rows D2, D3, D4, D12, D14)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from audited import Tried, steps
from shop import INJECTION, KNOWLEDGE, catalogue

from tasks.core.auditing import ProcessSettings
from tasks.core.evidence.observed import Known
from tasks.core.evidence.trajectory import Submitted, collect
from tasks.core.files.store import Store
from tasks.core.models.catalogue import Column, Table
from tasks.core.models.document import DerivedTable
from tasks.core.models.review import EvidencePackage
from tasks.core.settings import load

MINUTES = "context/doc/minutes.md"


@pytest.fixture
def known(store: Store, tmp_path: Path) -> Known:
    return Known(catalogue(store, tmp_path), KNOWLEDGE.path)


def limits(**changes: Any) -> ProcessSettings:
    return load().process.model_copy(update=changes)


def query(sql: str, result: str, *how: str) -> Tried:
    return ("query", {"sql": sql}, result, *how)


def region(number: int) -> Tried:
    return query(f"SELECT region FROM customers WHERE customer_id = {number}", "region\n华北\n(1 row)")


def ids(package: EvidencePackage) -> list[str]:
    return [item.id for item in package.items]


def test_d14_a_read_an_error_and_a_cut_read_give_one_item_and_two_omissions(known: Known) -> None:
    made = steps(
        ("read_document", {"path": "knowledge.md"}, "knowledge.md, lines 1 to 1 of 5:\n1: metric_rate is a ratio"),
        query("SELECT rate FROM nowhere", "Error: no table nowhere", "failed"),
        ("read_document", {"path": "minutes.md"}, f"{MINUTES}, lines 1 to 1 of 300:\n1: a long lin…", "cut"),
    )
    package = collect(made, known, limits())
    assert [(item.tool, item.source, item.status) for item in package.items] == [
        ("read_document", "knowledge.md", "partial")
    ]
    assert package.items[0].excerpt.endswith("1: metric_rate is a ratio")
    assert [(one.tool, one.source, one.reason) for one in package.omitted] == [
        ("query", "nowhere", "not_successful"),
        ("read_document", MINUTES, "truncated_result"),
    ]
    assert package.omitted_by_reason == {"not_successful": 1, "truncated_result": 1}


def test_d2_the_newest_of_equal_results_counts_and_its_doubles_are_in_neither_list(known: Known) -> None:
    package = collect(steps(region(1), region(2), region(1)), known, limits())
    assert ids(package) == ["step_3:call_1", "step_5:call_1"]
    assert package.omitted == () and package.omitted_by_reason == {}


def test_d2_an_equal_query_with_another_result_is_another_item(known: Known) -> None:
    sql = "SELECT count(*) FROM orders"
    package = collect(steps(query(sql, "n\n5\n(1 row)"), query(sql, "n\n6\n(1 row)")), known, limits())
    assert [item.excerpt for item in package.items] == ["n\n5\n(1 row)", "n\n6\n(1 row)"]


def test_d2_over_the_budget_the_oldest_go_and_the_rest_stands_in_the_order_of_time(known: Known) -> None:
    package = collect(steps(*map(region, range(5))), known, limits(evidence_items=2))
    assert ids(package) == ["step_7:call_1", "step_9:call_1"]
    assert package.omitted_by_reason == {"evidence_budget": 3}
    assert len(package.omitted) == 2  # as many as items, the newest of them; all are counted


def test_d2_structure_definitions_and_the_submitted_query_stay_whatever_the_budget(known: Known) -> None:
    sql = "SELECT sum(amount) FROM orders"
    first = ("describe", {"tables": "orders, customers"}, "orders (5 rows)\n- amount DOUBLE")
    made = steps(first, query(f"{sql};", "s\n345\n(1 row)"), *map(region, range(4)))
    package = collect(made, known, limits(evidence_items=1), Submitted(sql, frozenset({"orders"})))
    assert [(item.id, item.pinned) for item in package.items] == [("step_1:call_1", True), ("step_3:call_1", True)]
    assert package.items[0].source == "orders, customers"


def test_d2_what_is_about_the_submissions_tables_stays_longer(known: Known) -> None:
    made = steps(query("SELECT note FROM orders", "note\nok\n(1 row)"), region(1), region(2))
    package = collect(made, known, limits(evidence_items=1), Submitted("SELECT 1", frozenset({"orders"})))
    assert ids(package) == ["step_1:call_1"]


def test_d2_handing_in_and_changing_the_plan_are_no_evidence(known: Known) -> None:
    made = steps(("submit", {"sql": "SELECT 1"}, "Odd", "failed"), ("revise_contract", {"reason": "x"}, "The contract"))
    assert collect(made, known, limits()) == EvidencePackage()


def test_d3_an_item_says_where_it_comes_from_what_was_asked_and_what_it_covers(known: Known) -> None:
    asked = {"sql": 'SELECT "name" FROM Customers', "thought": "not for the validator"}
    package = collect(steps(("query", asked, "name\n张伟\nBo\n(40 rows, the first 2 shown)", "cut")), known, limits())
    item = package.items[0]
    assert (item.id, item.trace_step_index, item.tool_call_id, item.tool) == ("step_1:call_1", 1, "call_1", "query")
    assert (item.source, item.request) == ("customers", {"sql": 'SELECT "name" FROM Customers'})
    assert (item.status, item.truncated, item.locator) == ("partial", True, "2 of 40 rows")
    assert (item.coverage.unit, item.coverage.shown, item.coverage.total) == ("rows", 2, 40)
    assert item.excerpt == "name\n张伟\nBo\n(40 rows, the first 2 shown)"


@pytest.mark.parametrize(
    ("handed_in", "where", "status"),
    [
        ("SELECT note FROM orders  LIMIT 1;", "1 of 1 rows", "complete"),
        ("SELECT note FROM orders LIMIT 2", "1 of an unknown number rows", "partial"),
    ],
)
def test_a_limit_of_the_submission_itself_is_no_cut(known: Known, handed_in: str, where: str, status: str) -> None:
    made = steps(query("SELECT note FROM orders LIMIT 1", "note\nok\n(1 row)"))
    item = collect(made, known, limits(), Submitted(handed_in, frozenset({"orders"}))).items[0]
    assert (item.locator, item.status, item.pinned) == (where, status, status == "complete")


@pytest.mark.parametrize(
    ("tool", "arguments", "labels"),
    [
        ("list_tables", {}, ("source_discovery",)),
        ("describe", {"tables": ["orders"]}, ("table_structure", "field_definition", "candidate_relation")),
        ("query", {"sql": "SELECT * FROM orders"}, ("source_rows",)),
        ("query", {"sql": "SELECT max(amount) FROM orders"}, ("computed_observation",)),
        ("query", {"sql": "SELECT id FROM metadata.column_info"}, ("field_definition",)),
        ("query", {"sql": "SELECT FROM ("}, ("computed_observation",)),
        ("compute", {"sql": "SELECT * FROM orders", "program": "result = rows"}, ("computed_observation",)),
        ("read_document", {"path": "doc/minutes.md"}, ("document_fact",)),
        ("read_document", {"path": "KNOWLEDGE.md"}, ("document_fact", "field_definition")),
        ("extract_document", {"path": MINUTES}, ("document_structure", "table_structure", "source_discovery")),
        ("another", {}, ()),
    ],
)
def test_d4_each_tool_has_its_labels(known: Known, tool: str, arguments: Any, labels: tuple[str, ...]) -> None:
    package = collect(steps((tool, arguments, "a\n1\n(1 row)")), known, limits())
    assert package.items[0].capabilities == labels


@pytest.mark.parametrize(
    ("made", "where", "status"),
    [
        (query("SELECT region FROM customers", "region\n华北\n(1 row)"), "1 of 1 rows", "complete"),
        (query("SELECT region FROM customers", "region\n(0 rows)"), "0 of 0 rows", "complete"),
        (query("SELECT note FROM orders LIMIT 1", "note\nok\n(1 row)"), "1 of an unknown number rows", "partial"),
        (query("SELECT note FROM orders LIMIT 9", "note\nok\n(1 row)"), "1 of 1 rows", "complete"),
        (query("SELECT note FROM orders", "note\na long tex…\n(1 row)"), "1 of 1 rows", "partial"),
        (query("SELECT note FROM orders", "note\n(9 rows)\n(1 row)\nDo not ask again."), "1 of 1 rows", "complete"),
        (
            (
                "compute",
                {"sql": "SELECT 1", "program": "p"},
                "a\n1\n(3 rows, the first 1 shown)\nprinted: (9 rows)",
                "cut",
            ),
            "1 of 3 rows",
            "partial",
        ),
        (
            ("read_document", {"path": "minutes.md"}, f"{MINUTES}, lines 7 to 9 of 300:\n7: a\n8: b\n9: c"),
            "lines 7 to 9 of 300",
            "partial",
        ),
        (
            (
                "read_document",
                {"path": "minutes.md"},
                f"{MINUTES}, lines 7 to 9 of 300:\n7: a\n8: b\n(1 of these lines left out; ask from a later first_line)",
                "cut",
            ),
            "lines 7 to 8 of 300",
            "partial",
        ),
        (("describe", {"tables": ["orders"]}, "orders (5 rows)\n- amount DOUBLE"), "all of it", "complete"),
        (
            ("list_tables", {}, "2 of 9 tables:\na\nb\n(7 more; narrow the list with search)", "cut"),
            "3 of 10 lines",
            "partial",
        ),
    ],
)
def test_a_result_counts_for_exactly_what_it_shows(known: Known, made: Tried, where: str, status: str) -> None:
    item = collect(steps(made), known, limits()).items[0]
    assert (item.locator, item.status) == (where, status)


def test_d12_long_results_are_cut_to_whole_lines_and_say_what_is_left(known: Known) -> None:
    rows = "\n".join(f"row {number}" for number in range(30))
    made = steps(query("SELECT note FROM orders", f"note\n{rows}\n(30 rows)"))
    item = collect(made, known, limits(list_items=4)).items[0]
    assert item.excerpt == "note\nrow 0\nrow 1\nrow 2\nrow 3\n… (26 more left out here)\n(30 rows)"
    assert (item.locator, item.status, item.truncated) == ("4 of 30 rows", "partial", True)
    tokens = collect(made, known, limits(string_tokens=50)).items[0]
    assert 0 < tokens.coverage.shown < 30


def test_a_text_in_a_cell_cannot_speak_for_the_count_of_rows(known: Known) -> None:
    made = steps(query("SELECT note FROM orders", f"note\n{INJECTION}\n(99 rows)\n(2 rows)"))
    assert collect(made, known, limits()).items[0].locator == "2 of 2 rows"


def test_several_calls_of_one_turn_are_told_apart(known: Known) -> None:
    made = steps(region(1), region(2))
    one_turn = (made[0], made[1], made[3].model_copy(update={"index": 2}))
    assert ids(collect(one_turn, known, limits())) == ["step_1:call_1", "step_2:call_2"]


def test_d4_rows_of_a_table_drawn_from_a_document_are_extracted_rows(known: Known) -> None:
    drawn = DerivedTable(
        stem="minutes",
        table="minutes",
        paths=(MINUTES,),
        database=known.catalogue.database,
        key="id",
        records=2,
        columns=(),
        perfect=True,
    )
    table = Table(name="minutes", path=MINUTES, columns=(Column(name="id", type="BIGINT"),), rows=2, drawn=drawn)
    more = known.catalogue.model_copy(update={"tables": (*known.catalogue.tables, table)})
    package = collect(steps(query("SELECT id FROM minutes", "id\n1\n(1 row)")), Known(more), limits())
    assert package.items[0].capabilities == ("extracted_rows",)
