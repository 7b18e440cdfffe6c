from __future__ import annotations

from collections import Counter

import pytest
from mutants import Case, sample, table
from planting import KINDS
from righted import Right
from sqlglot import parse_one

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, Profile, TableProfile
from tasks.core.models.evidence import Check
from tasks.core.models.query import QueryResult
from tasks.solve.mending.scopes import Schema


def column(name: str, type: str = "BIGINT", key: bool = False, nulls: float = 0, *examples: str) -> ColumnProfile:
    return ColumnProfile(name=name, type=type, null_share=nulls, distinct=5, is_key=key, examples=examples)


ORDERS = TableProfile(
    name="orders",
    origin="orders.csv",
    rows=9,
    columns=(
        column("id", key=True), column("customer", "BIGINT", False, 0, "1", "2"), column("amount", "DOUBLE", False, 0, "5", "7"),
        column("paid", "DOUBLE", False, 0.1, "5"), column("day", "DATE", False, 0, "2024-05-06"),
    ),
)  # fmt: skip
RETURNS = ORDERS.model_copy(update={"name": "returns"})
CUSTOMERS = TableProfile(
    name="customers",
    origin="customers.csv",
    rows=5,
    columns=(column("id", key=True), column("name", "VARCHAR"), column("city", "VARCHAR")),
)
LINKS = tuple(
    JoinCandidate(
        left_table=left, left_column="customer", right_table="customers", right_column="id",
        match_rate=0.9, left_unique=False, right_unique=True,
    )
    for left in ("orders", "returns")
)  # fmt: skip
SCHEMA = Schema(Profile(tables=(ORDERS, RETURNS, CUSTOMERS), joins=LINKS))
RESULT = QueryResult(
    columns=("x",), types=("BIGINT",), rows=((3,),), row_count=2, truncated=False, digest="", seconds=0
)
PLANTED = {
    "similar table": ("SELECT amount FROM orders", "SELECT amount FROM \"returns\" AS \"orders\""),
    "similar column": ("SELECT amount FROM orders", 'SELECT "customer" FROM orders'),
    "wrong join key": ("SELECT o.amount FROM orders o JOIN customers c ON c.id = o.customer", 'o."id"'),
    "fan-out": ("SELECT name FROM customers", 'INNER JOIN "orders" AS extra'),
    "lost rows": ("SELECT c.name FROM customers c LEFT JOIN orders o ON o.customer = c.id", "AS c JOIN orders"),
    "percent for ratio": ("SELECT id FROM orders WHERE amount > 0.05", "amount > 5"),
    "year bound": ("SELECT id FROM orders WHERE day >= '2024-01-01'", "2023-01-01"),
    "< for <=": ("SELECT id FROM orders WHERE amount < 5", "amount <= 5"),
    "no DISTINCT": ("SELECT DISTINCT city FROM customers", "SELECT city FROM customers"),
    "extra DISTINCT": ("SELECT city FROM customers", "SELECT DISTINCT city FROM customers"),
    "tie cut to one": ("SELECT id FROM orders WHERE amount = (SELECT max(amount) FROM orders)", "ORDER BY amount DESC LIMIT 1"),
    "NULLs dropped": ("SELECT paid FROM orders", "WHERE NOT paid IS NULL"),
    "subset as population": ("SELECT name FROM customers", 'IN (SELECT "customer" FROM "orders")'),
    "correction ignored": ("SELECT amount FROM orders", "THEN 5 ELSE amount END"),
    "sum for average": ("SELECT avg(amount) FROM orders", "SUM(amount)"),
    "value typed by hand": ("SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)", "amount > 5"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_plants_one_fault_and_leaves_the_right_query_alone(kind: str) -> None:
    sql, part = PLANTED[kind]
    tree = parse_one(sql, read="duckdb")
    before = tree.sql("duckdb")
    planted = [made.sql("duckdb") for made in KINDS[kind](Right(tree, SCHEMA, RESULT, (("1", "amount", "5"),)))]
    assert any(part in made for made in planted), planted
    assert before not in planted
    assert tree.sql("duckdb") == before


def test_the_table_counts_what_failed_and_what_was_noted() -> None:
    failed, noted = (Check(name="x", outcome=outcome) for outcome in ("failed", "noted"))
    cases = [Case("t", "tuned", "fan-out", "q", "a", (failed,)), Case("t", "tuned", "fan-out", "q", "b", (noted,)),
             Case("t", "held out", "fan-out", "q", "c"), Case("t", "tuned", "", "q", "d")]  # fmt: skip
    lines = table(cases).splitlines()
    assert "| fan-out | 3 | 33% | 67% | 2 | 50% | 100% | 1 | 0% | 0% |" in lines
    assert "| none (false alarms) | 1 | 0% | 0% | 1 | 0% | 0% | 0 |  |  |" in lines


def test_a_sample_takes_every_kind_in_turn_from_many_tasks_with_their_right_queries_and_is_always_the_same() -> None:
    cases = [Case(f"t{at}", "tuned", kind, "q", f"{kind} {at}") for kind in (*KINDS, "") for at in range(5)]
    drawn = sample(cases, 24)
    assert drawn == sample(list(reversed(cases)), 24) and drawn != sample(cases, 24, seed=1)
    counts = Counter(case.kind for case in drawn if case.kind)
    assert set(counts) == set(KINDS) and set(counts.values()) == {1, 2} and counts.total() == 24
    assert (
        {case.task for case in drawn if case.kind}
        == {case.task for case in drawn if not case.kind}
        == {f"t{at}" for at in range(5)}
    )
    assert max(Counter(case.task for case in drawn if case.kind).values()) <= 6
    assert len(sample(cases, 1000)) == len(cases)


def test_a_similar_table_may_name_its_columns_otherwise() -> None:
    fees = ORDERS.model_copy(
        update={"name": "fees", "columns": (column("fee_amount", "DOUBLE"), column("amount", "VARCHAR"))}
    )
    schema = Schema(Profile(tables=(ORDERS, fees), joins=()))
    right = Right(parse_one("SELECT amount FROM orders WHERE amount > 5", read="duckdb"), schema, RESULT)
    planted = [tree.sql("duckdb") for tree in KINDS["similar table"](right)]
    assert planted == ['SELECT "fee_amount" FROM "fees" AS "orders" WHERE "fee_amount" > 5']
