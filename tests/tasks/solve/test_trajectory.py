"""Every model and tool step of an attempt is kept (parity row D1), and validators read what it did."""

from __future__ import annotations

from solver import NORTH, Case, act

from tasks.core.evidence.observed import Known
from tasks.core.evidence.trajectory import collect
from tasks.core.settings import load


def test_d1_every_step_is_kept_with_arguments_result_and_success(case: Case) -> None:
    bad = "SELECT nothing FROM orders"
    script = [
        act("describe", "first a look", tables=["orders", "customers"]),
        act("query", sql=bad),
        act("query", sql="SELECT note FROM orders"),
        act("read_document", path="minutes.md", first_line=299),
        act("submit", sql=NORTH),
    ]
    made = case.solve("json", script)
    tools = [step for step in made.steps if step.kind == "tool"]
    assert [step.index for step in made.steps] == [*range(10)]
    assert [step.kind for step in made.steps] == ["model", "tool"] * 5
    assert [(step.name, step.ok) for step in tools] == [
        ("describe", True),
        ("query", False),
        ("query", True),
        ("read_document", True),
        ("submit", True),
    ]
    assert made.steps[0].result == "first a look"
    assert tools[1].arguments == {"sql": bad} and "nothing" in tools[1].result
    assert tools[2].result.endswith("(5 rows)")


def test_d2_what_the_solvers_own_tools_say_of_coverage_is_understood(case: Case) -> None:
    script = [
        act("describe", tables=["orders"]),
        act("list_tables"),
        act("query", sql="SELECT 'x' || o.order_id AS a FROM orders o, orders b, orders c"),
        act("compute", sql="SELECT product FROM orders", program="print('(9 rows)'); result = rows"),
        act("read_document", path="minutes.md", lines=300),
        act("read_document", path="minutes.md", first_line=299),
        act("submit", sql=NORTH),
    ]
    made = case.solve("json", script, agent={"result_chars": 800}, query={"preview_rows": 20})
    package = collect(made.steps, Known(case.given.catalogue), load().process)
    where = {(item.tool, item.status): item.locator for item in package.items}
    assert where[("describe", "complete")] == "all of it"
    assert where[("query", "partial")] == "20 of 125 rows"
    assert where[("compute", "complete")] == "5 of 5 rows"
    assert [item.locator for item in package.items if item.tool == "read_document"][1] == "lines 299 to 300 of 300"
    first = next(item for item in package.items if item.tool == "read_document").coverage
    assert first.last and first.shown == first.last < 300
    assert package.omitted == ()
