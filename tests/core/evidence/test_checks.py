"""Deterministic checks: what each notes, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.core.evidence import checks
from tasks.core.evidence.rows import Tally
from tasks.core.models.answer import Contract, ContractColumn, JoinAudit
from tasks.core.models.evidence import Check, Outline, Replay, UsedTable


def replay(**changes: Any) -> Replay:
    made = Replay(sql="select", columns=("name", "total"), expected="d", digest="d", rows=12)
    return made.model_copy(update=changes)


def contract(*names: str, **fields: Any) -> Contract:
    return Contract(columns=tuple(ContractColumn(name=name) for name in names), **fields)


def join(**fields: Any) -> JoinAudit:
    facts = {
        "left": "orders",
        "right": "customers",
        "condition": "a = b",
        "kind": "inner",
        "left_rows": 340,
        "right_rows": 20,
    }
    return JoinAudit(**{**facts, "joined_rows": 328, **fields})


SAME, EMPTY, TWICE = Tally(12, (0, 3), 0), Tally(12, (0, 12), 0), Tally(12, (0, 0), 4)


@pytest.mark.parametrize(
    ("check", "outcome", "words"),
    [
        (checks.replay_equal(replay()), "passed", "12 rows, equal"),
        (checks.replay_equal(replay(digest="", error="no such column")), "failed", "no such column"),
        (checks.replay_equal(replay(digest="other", error="other rows")), "failed", "other rows"),
        (checks.columns_match(contract(), ("a",)), None, ""),
        (checks.columns_match(contract("Total", "NAME"), ("name", "total")), "passed", ""),
        (
            checks.columns_match(contract("name", "sum"), ("name", "total")),
            "noted",
            "name, total where the contract says name, sum",
        ),
        (
            checks.columns_match(contract("name"), ("name", "total")),
            "failed",
            "expects 1 column (name); the answer has 2",
        ),
        (checks.empty_columns(("name", "total"), SAME), "passed", ""),
        (checks.empty_columns(("name", "total"), EMPTY), "noted", "empty in every row: total"),
        (checks.empty_columns(("name", "total"), Tally(0, (0, 0), 0)), None, ""),
        (checks.some_rows(SAME), None, ""),
        (checks.some_rows(Tally(0, (0, 0), 0)), "noted", "no rows"),
        (checks.repeated_rows(contract(), SAME), "passed", "no row occurs twice"),
        (checks.repeated_rows(contract(), TWICE), "noted", "4 rows of 12 repeat an earlier one"),
        (checks.repeated_rows(contract(duplicates="keep"), TWICE), "passed", "4 rows of 12"),
        (checks.repeated_rows(contract(duplicates="remove"), TWICE), "failed", "the contract wants each once"),
        (checks.no_formulas(("name", "total"), SAME), None, ""),
        (
            checks.no_formulas(("name", "=total"), Tally(12, (0, 0), 0, (2, 1))),
            "noted",
            "2 cells of name, 1 cell of =total begin like a formula",
        ),
        (checks.within_limits(contract(), replay()), None, ""),
        (checks.within_limits(contract(limit=12), replay()), "passed", "limit is 12"),
        (checks.within_limits(contract(limit=5), replay()), "failed", "at most 5 rows; the answer has 12"),
        (checks.within_limits(contract(limit=5, ties="keep_all"), replay()), "passed", ""),
        (checks.within_limits(contract(), replay(truncated=True)), "failed", "the rest is missing"),
        (checks.order_fixed(contract(order="by name"), Outline(), replay()), None, ""),
        (checks.order_fixed(contract(), Outline(), replay(sorted=True)), "passed", "sorted by value"),
        (checks.order_fixed(contract(order="by name"), Outline(), replay(sorted=True)), "noted", "'by name'"),
        (checks.order_fixed(contract(), Outline(limit="3"), replay(sorted=True)), "noted", "others could be taken"),
        (checks.order_fixed(contract(order="by name"), Outline(), replay(sorted=True, rows=1)), None, ""),
    ],
)
def test_a_check_says_what_it_saw(check: Check | None, outcome: str | None, words: str) -> None:
    assert (check.outcome if check else None) == outcome
    assert words in (check.detail if check else "")


@pytest.mark.parametrize(
    ("audit", "outcome", "detail"),
    [
        (join(left_unmatched=12), "noted", "12 of 340 rows of orders found no partner in customers (left out)"),
        (join(left_unmatched=1, kind="left"), "noted", "1 of 340 rows of orders found no partner in customers (kept with empty fields)"),
        (join(right_unmatched=1, right_rows=1), "noted", "1 of 1 row of customers found no partner in orders (left out)"),
        (
            join(left_unmatched=2, right_unmatched=3, kind="right"),
            "noted",
            "2 of 340 rows of orders found no partner in customers (left out); "
            "3 of 20 rows of customers found no partner in orders (kept with empty fields)",
        ),
        (join(), "passed", "every row of orders and customers found a partner"),
        (join(problem="took longer than 30 s"), "noted", "the join of orders with customers could not be measured: took longer than 30 s"),
    ],
)  # fmt: skip
def test_rows_that_a_join_loses_are_said(audit: JoinAudit, outcome: str, detail: str) -> None:
    (check,) = checks.join_losses([audit])

    assert (check.outcome, check.detail) == (outcome, detail)


@pytest.mark.parametrize("kind", ["semi", "anti"])
def test_a_join_that_selects_loses_nothing(kind: str) -> None:
    assert list(checks.join_losses([join(kind=kind, left_unmatched=5)])) == []


def test_columns_with_cells_that_nobody_read_make_an_answer_doubtful() -> None:
    whole = UsedTable(name="a", path="a.pdf", rows=3)
    torn = UsedTable(name="矿山", path="矿山.pdf", rows=12, unread={"储量": 5, "since": 1})

    (check,) = checks.tables_whole([whole, torn])

    assert (check.name, check.outcome) == ("document cells", "failed")
    assert check.detail.startswith("cells of 储量 (5 of 12), since (1 of 12) were not read from 矿山.pdf")


def test_a_column_without_one_value_makes_an_answer_doubtful_and_is_not_called_unstated() -> None:
    torn = UsedTable(name="矿山", path="矿山.pdf", rows=12, blank={"储量": 12, "since": 9, "owner": 0})

    (check,) = checks.tables_whole([torn])

    assert (check.name, check.outcome) == ("document cells", "failed")
    assert "储量 is known (the model named none for 12 of 12 records)" in check.detail
    assert "since is known (the model named none for 9 of 12 records, it was asked nothing for 3)" in check.detail
    assert "owner is known (it was asked nothing for 12)" in check.detail


def test_rows_that_were_set_aside_are_said() -> None:
    whole = UsedTable(name="a", path="a.csv", rows=3)
    torn = UsedTable(name="b", path="b.csv", rows=3, set_aside=2)

    (check,) = checks.tables_whole([whole, torn])

    assert (check.outcome, check.detail) == ("noted", "b lacks 2 rows of b.csv that could not be read")
