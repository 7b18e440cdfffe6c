"""Required actions are closed, or shown impossible, by a rule over later evidence (parity row D10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from audited import OTHER, SQL, Tried, attempt, steps
from shop import KNOWLEDGE, catalogue

from tasks.core.evidence.observed import Known
from tasks.core.evidence.trajectory import collect
from tasks.core.files.store import Store
from tasks.core.models.review import Audit, Obligation
from tasks.core.settings import load
from tasks.solve.auditing.duties import opened, settled

EARLIER = ("query", {"sql": "SELECT amount FROM orders"}, "amount\n5\n(1 row)")
MINUTES = "context/doc/minutes.md"


@pytest.fixture
def known(store: Store, tmp_path: Path) -> Known:
    return Known(catalogue(store, tmp_path), KNOWLEDGE.path)


def state(known: Known, names: list[str], *later: Tried, handed_in: tuple[str, ...] = (SQL,)) -> Obligation:
    """What becomes of an action about these names that was required after one query."""
    before = steps(EARLIER)
    duty = opened([("do it", names)], known, len(before))
    audit = Audit(kind="candidate", steps=len(before), candidate=0, verdict="rejected", actions=duty, asked=True)
    tried = attempt(steps(EARLIER, *later), *handed_in)
    package = collect(tried.steps, known, load().process)
    return settled(audit, tried, package, known)[0]


def test_d10_names_are_those_of_the_catalogue(known: Known) -> None:
    names = ["ORDERS.Amount", '"customers"', "minutes.md", "knowledge:3", "orders.nothing", "orders"]
    assert opened([("x", names)], known, 4)[0].sources == (
        "orders.amount",
        "customers",
        MINUTES,
        "knowledge.md",
        "orders",
    )


def look(sql: str, *how: str) -> Tried:
    return ("query", {"sql": sql}, "Error: no" if how else "a\n1\n(1 row)", *how)


READ: Tried = ("read_document", {"path": "minutes.md"}, f"{MINUTES}, lines 1 to 1 of 300:\n1: a")
NOT_DRAWN: Tried = ("extract_document", {"path": MINUTES}, "no table can be drawn", "failed")


@pytest.mark.parametrize(
    ("names", "later", "status", "evidence"),
    [
        (["orders.amount"], [], "open", ""),
        (["orders.amount"], [look("SELECT amount FROM orders WHERE amount > 1")], "closed", "step_3:call_1"),
        (["orders.amount"], [look("SELECT * FROM orders")], "closed", "step_3:call_1"),
        (["orders.amount"], [look("SELECT note FROM orders")], "open", ""),
        (["orders.amount"], [look("SELECT amount FROM orders WHERE x", "failed")], "open", ""),
        (["orders"], [look("SELECT 1 FROM customers")], "open", ""),
        (["orders"], [("describe", {"tables": ["orders"]}, "orders (5 rows)\n- amount")], "closed", "step_3:call_1"),
        (["orders", "customers"], [look("SELECT 1 FROM orders")], "open", ""),
        (["orders", "customers"], [look("SELECT 1 FROM orders"), look("SELECT 2 FROM customers")], "closed", "step_5:call_1"),
        ([MINUTES], [READ], "closed", "step_3:call_1"),
        ([MINUTES], [NOT_DRAWN], "impossible", "step_3"),
        ([MINUTES], [NOT_DRAWN, READ], "closed", "step_5:call_1"),
        (["orders"], [look("SELECT a FROM orders", "failed"), look("SELECT b FROM orders", "failed")], "impossible", "step_5"),
        ([], [], "open", ""),
        ([], [look("SELECT 1 FROM customers")], "closed", "step_3:call_1"),
        (["no_such_table"], [], "open", ""),
        (["orders.no_such_column"], [], "impossible", ""),
    ],
)  # fmt: skip
def test_d10_later_evidence_closes_an_action_or_shows_it_impossible(
    known: Known, names: list[str], later: list[Tried], status: str, evidence: str
) -> None:
    duty = state(known, names, *later)
    assert (duty.status, duty.evidence) == (status, evidence)


def test_d10_a_changed_submission_closes_what_is_about_the_tables_it_reads(known: Known) -> None:
    assert state(known, ["orders.amount"], handed_in=(SQL, OTHER)).evidence == "submission"
    assert state(known, ["customers.region"], handed_in=(SQL, OTHER)).status == "open"
    assert state(known, ["orders.amount"], handed_in=(SQL, SQL)).status == "open"
