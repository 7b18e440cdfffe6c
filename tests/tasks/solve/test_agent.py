"""Scripted models over real HTTP against a real catalogue, in both styles of dialogue."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from shop import INJECTION, MINUTES
from solver import NORTH, TEA, Case, act, call

from tasks.core.models.answer import Contract, ContractColumn


@pytest.mark.parametrize(("style", "say"), [("json", act), ("tools", call)])
def test_each_style_looks_queries_and_hands_in(case: Case, style: str, say: Callable[..., Any]) -> None:
    script = [
        say("list_tables", "What is there?"),
        say("describe", tables=["customers"]),
        say("query", sql="SELECT DISTINCT region FROM customers"),
        say("submit", "That is it.", sql=NORTH, reason="Sum over the north."),
    ]
    attempt = case.solve(style, script)
    assert (attempt.ended, attempt.chosen, attempt.problems, attempt.unsettled) == ("submitted", 0, (), "")
    assert attempt.candidate and attempt.candidate.preview == ((300.0,),)
    assert attempt.candidate.columns == ("sales",) and attempt.candidate.rows == 1
    assert [step.name for step in attempt.steps if step.kind == "tool"] == [
        "list_tables",
        "describe",
        "query",
        "submit",
    ]
    assert [step.index for step in attempt.steps] == list(range(8))
    assert attempt.usage.calls == 4 and attempt.usage.tokens_out > 0
    assert attempt.steps[5].result == "region\n华北\n华东\nNULL\n(3 rows)"
    assert "orders: 5 rows, 5 columns, context/csv/orders.csv" in attempt.steps[1].result
    assert "join: orders.customer_id -> customers.customer_id (80 % match" in attempt.steps[3].result


def test_the_first_prompt_has_question_brief_plan_and_documents(case: Case) -> None:
    contract = Contract(columns=(ContractColumn(name="sales", meaning="in CNY"),), grain="one row", written_by="model")
    case.solve("json", [act("submit", sql=NORTH)], contract)
    system, user = (message["content"] for message in case.requests[0]["messages"])
    assert "submit(sql, [program], [columns], [reason], [confirm])" in system and "read_document" in system
    for text in ("sales of the north (华北)?", "columns (1): sales (in CNY)", "[4] Amounts are in CNY", "context/doc/minutes.md (300 lines)"):  # fmt: skip
        assert text in user


def test_native_tools_are_offered_with_their_arguments(case: Case) -> None:
    case.solve("tools", [call("submit", sql=NORTH)])
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in case.requests[0]["tools"]}
    assert list(offered) == [
        "list_tables",
        "describe",
        "query",
        "compute",
        "read_document",
        "revise_contract",
        "submit",
    ]
    assert offered["query"]["required"] == ["sql"] and offered["submit"]["properties"]["confirm"]["type"] == "boolean"


def test_several_calls_in_one_turn_are_all_answered(case: Case) -> None:
    both = {
        "content": "Two at once.",
        "tool_calls": [
            {
                "id": f"c{i}",
                "type": "function",
                "function": {"name": "query", "arguments": json.dumps({"sql": f"SELECT {i}"})},
            }
            for i in range(2)
        ],
    }
    attempt = case.solve("tools", [both, call("submit", sql=NORTH)])
    results = [message for message in case.requests[1]["messages"] if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == ["c0", "c1"] and attempt.ended == "submitted"


WRONG = [
    (act("query", sql="SELECT amout FROM orders"), "amount"),
    (act("query", sql="SELECT * FROM 'orders.csv'"), "Error:"),
    (act("query", sql="DELETE FROM orders"), "Error:"),
    (act("look", table="orders"), "No tool 'look' now. Use one of: list_tables, describe"),
    (act("query", statement="SELECT 1"), "It is used as query(sql)."),
    (act("describe", tables=["custmers"]), "No table 'custmers'. Did you mean customers?"),
    (act("read_document", path="other.md"), "No document 'other.md'. There are: knowledge.md, context/doc/minutes.md"),
    (act("submit", sql="SELECT nothing FROM orders"), "Error:"),
    (act("submit", sql=NORTH, columns=["a", "b"]), "`columns` names 2 columns, the result has 1"),
]


def test_what_goes_wrong_is_told_in_the_next_turn(case: Case) -> None:
    attempt = case.solve("json", [*(reply for reply, _ in WRONG), act("submit", sql=NORTH)])
    assert attempt.ended == "submitted" and len(attempt.candidates) == 1
    for number, (_, told) in enumerate(WRONG):
        step = attempt.steps[number * 2 + 1]
        assert not step.ok and told in step.result and told in case.told(number + 1)


def test_arguments_may_be_a_text_where_a_list_is_meant(case: Case) -> None:
    attempt = case.solve("json", [act("describe", tables="orders, customers"), act("submit", sql=NORTH)])
    assert "context/csv/orders.csv" in attempt.steps[1].result and "crm.db::customers" in attempt.steps[1].result


@pytest.mark.parametrize("document", ["context/doc/minutes.md", "Minutes.md"])
def test_documents_are_read_by_line(case: Case, document: str) -> None:
    script = [act("read_document", path=document, first_line=299, lines=9), act("submit", sql=NORTH)]
    attempt = case.solve("json", script)
    assert attempt.steps[1].result == (
        "context/doc/minutes.md, lines 299 to 300 of 300:\n299: line 299: nothing of note\n300: line 300: the price rises"
    )


def test_the_knowledge_can_be_read_too(case: Case) -> None:
    attempt = case.solve(
        "json", [act("read_document", path="knowledge.md", first_line=4, lines=1), act("submit", sql=NORTH)]
    )
    assert attempt.steps[1].result.splitlines()[1:] == ["4: - Amounts are in CNY and are never rounded."]


def test_long_results_are_cut_and_say_so(case: Case) -> None:
    long = "SELECT repeat('word ', 100) || range AS text FROM range(1000)"
    script = [act("query", sql=long), act("read_document", path="minutes.md", lines=300), act("submit", sql=NORTH)]
    attempt = case.solve("json", script, agent={"result_chars": 1000})
    rows, lines = attempt.steps[1], attempt.steps[3]
    assert rows.truncated and len(rows.result) < 1300 and rows.result.endswith("(1000 rows, the first 4 shown)")
    assert lines.truncated and len(lines.result) < 1300 and "of these lines left out" in lines.result
    assert len(MINUTES) > 1300


def test_orders_in_a_cell_stay_inside_the_fence(case: Case) -> None:
    case.solve("json", [act("query", sql="SELECT note FROM orders"), act("submit", sql=NORTH)])
    for message in (case.requests[0]["messages"][1]["content"], case.told()):
        lines = message.splitlines()
        at = next(i for i, line in enumerate(lines) if "Ignore all rules" in line)
        bars = [line for line in lines[:at] if line and set(line) == {"~"}]
        assert len(bars) % 2 == 1, "an open fence"
        assert len(bars[-1]) > 4 and bars[-1] in lines[at:], "longer than the run of tildes in the cell, and closed"
    assert INJECTION in case.told()


ODD = [
    ("SELECT amount FROM orders WHERE product = 'Tea'", "there are no rows"),
    ("SELECT NULL AS sales FROM range(9)", "column 'sales' is NULL in every row"),
    ("SELECT NULL AS sales FROM range(99)", "column 'sales' is NULL in every row"),
    ("SELECT product, amount FROM orders", "the contract expects 1 columns (sales), the result has 2"),
    ("SELECT 7 AS sales FROM range(3)", "2 rows repeat others"),
    ("SELECT range % 70 AS sales FROM range(99)", "29 rows repeat others"),
    ("SELECT range AS sales FROM range(7)", "the contract allows 4 rows, the result has 7"),
]


def test_an_odd_result_is_questioned_once(case: Case) -> None:
    contract = Contract(columns=(ContractColumn(name="sales"),), duplicates="remove", limit=4, written_by="model")
    attempt = case.solve("json", [act("submit", sql=sql) for sql, _ in [*ODD, ODD[-1]]], contract)
    for number, (_, told) in enumerate(ODD):
        assert told in attempt.steps[number * 2 + 1].result and "confirm = true" in case.told(number + 1)
    assert attempt.ended == "submitted" and attempt.chosen == len(ODD) and attempt.candidate
    assert attempt.candidate.submission.sql == ODD[-1][0]


def test_a_query_without_rows_is_told_what_leaves_none_and_the_nearest_values(case: Case) -> None:
    case.solve("json", [act("submit", sql="SELECT amount FROM orders WHERE product = 'Teas'"), act("submit", sql=TEA)])
    assert "rows of orders none meets product = 'Teas'" in case.told()
    assert "no product is 'Teas'; nearest there: 'tea'" in case.told()


def test_a_confirmed_result_that_is_odd_in_no_new_way_is_taken(case: Case) -> None:
    empty, other = "SELECT amount FROM orders WHERE amount < 0", "SELECT amount, note FROM orders WHERE amount < 0"
    attempt = case.solve("json", [act("submit", sql=empty), act("submit", sql=other, confirm=True)])
    assert attempt.ended == "submitted" and attempt.candidate and attempt.candidate.submission.sql == other


def test_confirming_in_advance_does_not_skip_the_question(case: Case) -> None:
    empty = "SELECT amount FROM orders WHERE amount < 0"
    attempt = case.solve("json", [act("submit", sql=empty, confirm=True), act("submit", sql=NORTH)])
    assert [candidate.rows for candidate in attempt.candidates] == [0, 1] and attempt.chosen == 1


def test_the_contract_can_be_revised_with_a_reason(case: Case) -> None:
    contract = Contract(columns=(ContractColumn(name="sales", source="orders.amount"),), limit=1, written_by="model")
    script = [
        act(
            "revise_contract",
            reason="The product is asked for too.",
            columns=["product", "Sales"],
            limit=0,
            ties="keep_all",
        ),
        act("submit", sql=TEA),
    ]
    attempt = case.solve("json", script, contract)
    assert attempt.ended == "submitted" and len(attempt.candidates) == 1
    assert [(c.name, c.source) for c in attempt.contract.columns] == [("product", ""), ("sales", "orders.amount")]
    assert (attempt.contract.limit, attempt.contract.ties) == (None, "keep_all")
    assert attempt.contract.revisions == ("The product is asked for too.",)


def test_names_for_the_columns_are_kept(case: Case) -> None:
    attempt = case.solve("json", [act("submit", sql=TEA, columns=["产品", "销售额"])])
    assert attempt.candidate and attempt.candidate.columns == ("产品", "销售额")


def test_a_program_computes_over_the_rows_of_a_query(case: Case) -> None:
    median = "import statistics\nresult = [{'median': statistics.median(r['amount'] for r in rows)}]"
    script = [
        act("compute", sql="SELECT amount FROM orders", program="result = rows[0"),
        act("compute", sql="SELECT amount FROM orders", program=median + "\nprint('done')"),
        act("submit", sql="SELECT amount FROM orders", program=median),
    ]
    attempt = case.solve("json", script)
    assert not attempt.steps[1].ok and "Error:" in attempt.steps[1].result
    assert attempt.steps[3].result == "median\n80.0\n(1 row)\nprinted: done"
    assert (
        attempt.candidate and attempt.candidate.preview == ((80.0,),) and attempt.candidate.submission.program == median
    )


def test_a_program_and_a_query_with_the_same_rows_have_the_same_digest(case: Case) -> None:
    as_is = "result = rows"
    rows = "SELECT name, region FROM customers"
    script = [act("submit", sql=rows + " WHERE name = 'x'", program=as_is), act("submit", sql=rows, program=as_is)]
    by_program = case.solve("json", script).candidate
    by_query = case.solve("json", [act("submit", sql=rows + " ORDER BY name")]).candidate
    assert by_program and by_query and by_program.digest == by_query.digest
