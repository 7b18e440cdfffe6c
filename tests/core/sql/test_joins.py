"""Joins of queries over a small catalogue with known partners → counts."""

import asyncio
import dataclasses
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.core.models.answer import JoinAudit
from tasks.core.sections import QuerySettings
from tasks.core.sql import joins
from tasks.core.sql.chains import chains
from tasks.core.sql.engine import Engine
from tasks.core.sql.joins import audit

LIMITS = QuerySettings(seconds=20, memory_mb=2048, preview_rows=3, max_rows=1000)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """6 orders: 2 of customer 1, 1 of 2, 1 of an unknown one, 2 of none; 4 customers: 1, 2, 3, 4; 3 cities."""
    path = tmp_path_factory.mktemp("joins") / "catalogue.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("create table orders (order_id int, customer_id int, amount double)")
    connection.execute(
        "insert into orders values (1, 1, 5), (2, 1, 6), (3, 2, 7), (4, 99, 8), (5, null, 9), (6, null, 9)"
    )
    connection.execute("create table customers (customer_id int, name varchar, city varchar, boss int)")
    connection.execute(
        "insert into customers values (1, 'a', 'x', null), (2, 'b', 'x', 1), (3, 'c', 'y', 1), (4, 'd', null, 3)"
    )
    connection.execute('create table "城市" (city varchar, "名称" varchar)')
    connection.execute("insert into \"城市\" values ('x', '甲'), ('x', '乙'), ('z', '丙')")
    connection.execute("create table nothing (customer_id int)")
    connection.close()
    return path


def measure(database: Path, sql: str, limits: QuerySettings = LIMITS) -> tuple[JoinAudit, ...]:
    async def run() -> tuple[JoinAudit, ...]:
        async with Engine(database, limits) as engine:
            return await audit(engine, sql)

    return asyncio.run(run())


def counts(found: JoinAudit) -> tuple[int, ...]:
    return (
        found.left_rows,
        found.right_rows,
        found.joined_rows,
        found.left_unmatched,
        found.right_unmatched,
        found.left_multiplied,
    )


ON = "on o.customer_id = c.customer_id"
# left rows, right rows, joined rows, left and right without partner, left multiplied
ONE = [
    (f"select * from orders o join customers c {ON}", "inner", (6, 4, 3, 3, 2, 0)),
    ("select name from orders inner join customers using (customer_id)", "inner", (6, 4, 3, 3, 2, 0)),
    (f"select * from orders o left join customers c {ON}", "left", (6, 4, 6, 3, 2, 0)),
    (f"select * from orders o right join customers c {ON}", "right", (6, 4, 5, 3, 2, 0)),
    (f"select * from orders o full outer join customers c {ON}", "full", (6, 4, 8, 3, 2, 0)),
    ("select * from orders natural join customers", "inner", (6, 4, 3, 3, 2, 0)),
    (f"select * from customers c join orders o {ON}", "inner", (4, 6, 3, 2, 3, 1)),
    ("select * from orders semi join customers using (customer_id)", "semi", (6, 4, 3, 3, 2, 0)),
    ("select * from orders anti join customers using (customer_id)", "anti", (6, 4, 3, 3, 2, 0)),
    ("from orders join customers using (customer_id)", "inner", (6, 4, 3, 3, 2, 0)),
    ("select * from (orders o join customers c using (customer_id))", "inner", (6, 4, 3, 3, 2, 0)),
    ("select * from orders o, customers c where o.customer_id = c.customer_id and amount > 5", "comma", (6, 4, 3, 3, 2, 0)),
    ("select * from orders, customers", "comma", (6, 4, 24, 0, 0, 6)),
    ("select * from orders cross join customers", "cross", (6, 4, 24, 0, 0, 6)),
    ("select * from customers join \"城市\" using (city) where \"名称\" <> '甲'", "inner", (4, 3, 4, 2, 1, 2)),
    ("select * from orders join nothing using (customer_id)", "inner", (6, 0, 0, 6, 0, 0)),
    ("select * from orders cross join nothing", "cross", (6, 0, 0, 6, 0, 0)),
    ("select * from customers c join customers b on c.boss = b.customer_id", "inner", (4, 4, 3, 1, 2, 0)),
    ("select * from orders o join customers c on o.customer_id < c.customer_id", "inner", (6, 4, 8, 3, 1, 3)),
    ("with big as (select * from orders where amount > 5) select * from big join customers using (customer_id)", "inner",
     (5, 4, 2, 3, 2, 0)),
    ("select * from customers join (select customer_id, count(*) n from orders group by 1) t using (customer_id)", "inner",
     (4, 4, 2, 2, 2, 0)),
    ("select (select max(amount) from orders o join customers c using (customer_id)) from nothing", "inner",
     (6, 4, 3, 3, 2, 0)),
    ("with orders as (select * from orders where amount > 100) select * from orders join customers using (customer_id)",
     "inner", (0, 4, 0, 0, 4, 0)),
]  # fmt: skip


UNMEASURED = [
    ("select * from orders o, unnest([o.amount]) u(x)", "unnest depends on the row beside it"),
    (
        "select * from orders o asof join customers c on o.customer_id >= c.customer_id",
        "ASOF joins pair rows by order",
    ),
    ("select * from orders positional join customers", "POSITIONAL joins pair rows by order"),
    ("select * from orders o left join lateral (select o.amount) q on true", "lateral depends"),
    (
        "select * from orders o join (customers c join nothing n using (customer_id)) using (customer_id)",
        "brackets",
    ),
    ("select * from nothing, orders o right join customers c using (customer_id)", "after a comma"),
    (
        "select (select count(*) from customers c join nothing n on n.customer_id = o.order_id) from orders o",
        "not found",
    ),
    ("select * frm (", "could not be taken apart"),
]


@pytest.fixture(scope="module")
def audits(database: Path) -> dict[str, tuple[JoinAudit, ...]]:
    """All of them from one engine: starting one takes longer than a count."""

    async def run() -> dict[str, tuple[JoinAudit, ...]]:
        async with Engine(database, LIMITS) as engine:
            return {
                sql: await audit(engine, sql) for sql in [one for one, _, _ in ONE] + [one for one, _ in UNMEASURED]
            }

    return asyncio.run(run())


@pytest.mark.parametrize(("sql", "kind", "expected"), ONE)
def test_one_join_is_counted(
    audits: dict[str, tuple[JoinAudit, ...]], sql: str, kind: str, expected: tuple[int, ...]
) -> None:
    (found,) = audits[sql]
    assert (found.kind, counts(found), found.problem) == (kind, expected, "")


def test_the_counts_agree_with_the_join_itself(database: Path) -> None:
    """Joined rows are what DuckDB gives for the bare join."""
    bare = [one for one in ONE if not any(word in one[0] for word in ("where", "group by", "(select max"))]
    connection = duckdb.connect(str(database), read_only=True)
    assert len(bare) > 10
    assert [len(connection.execute(sql).fetchall()) for sql, _, _ in bare] == [expected[2] for _, _, expected in bare]


def test_names_and_conditions_are_those_of_the_query(database: Path) -> None:
    sql = (
        'select * from customers c join customers b on c.boss = b.customer_id left join "城市" on c.city = "城市".city'
    )
    found = measure(database, sql)
    assert [(a.left, a.right, a.condition) for a in found] == [
        ("customers (c)", "customers (b)", "c.boss = b.customer_id"),
        ("customers (c), customers (b)", "城市", 'c.city = "城市".city'),
    ]
    assert [counts(a) for a in found] == [(4, 4, 3, 1, 2, 0), (3, 3, 4, 2, 1, 1)]


def test_chains_see_what_the_joins_before_left(database: Path) -> None:
    found = measure(
        database,
        'select * from orders left join customers using (customer_id) join "城市" t on t.city = customers.city '
        "semi join nothing n on n.customer_id = order_id anti join nothing m on m.customer_id = order_id",
    )
    assert [(a.kind, counts(a)) for a in found] == [
        ("left", (6, 4, 6, 3, 2, 0)),
        ("inner", (6, 3, 6, 3, 1, 3)),
        ("semi", (6, 0, 0, 6, 0, 0)),
        ("anti", (0, 0, 0, 0, 0, 0)),
    ]


def test_comma_joins_take_their_conditions_from_where(database: Path) -> None:
    found = measure(
        database,
        'select count(*) from orders o, customers c, "城市" t '
        "where t.city = c.city and o.customer_id = c.customer_id and name = 'a' and amount > 5 and (amount > 1 or name = 'b')",
    )
    assert [(a.kind, a.condition) for a in found] == [
        ("comma", "o.customer_id = c.customer_id AND (amount > 1 OR name = 'b')"),
        ("comma", "t.city = c.city"),
    ]
    assert [counts(a) for a in found] == [(6, 4, 3, 3, 2, 0), (3, 3, 6, 0, 1, 3)]


def test_joins_of_every_part_of_the_query_are_measured(database: Path) -> None:
    found = measure(
        database,
        "with recursive up as (select customer_id, boss from customers where boss is null union all "
        "select c.customer_id, c.boss from customers c join up on c.boss = up.customer_id), "
        "paid as (select customer_id from orders join customers using (customer_id)) "
        "select * from paid join up using (customer_id) union all select o.customer_id, 1 from orders o join up using (customer_id)",
    )
    assert [(a.left, a.right, bool(a.problem)) for a in found] == [
        ("paid", "up", False),
        ("orders", "up", False),
        ("customers", "up", True),
        ("orders", "customers", False),
    ]
    assert counts(found[0]) == (3, 4, 3, 0, 2, 0)
    assert counts(found[1]) == (6, 4, 3, 3, 2, 0)


@pytest.mark.parametrize(("sql", "reason"), UNMEASURED)
def test_what_cannot_be_measured_says_why(audits: dict[str, tuple[JoinAudit, ...]], sql: str, reason: str) -> None:
    found = audits[sql]
    assert any(reason in each.problem for each in found)
    for unmeasured in (each for each in found if each.problem):
        assert counts(unmeasured) == (0, 0, 0, 0, 0, 0)


def test_after_an_unmeasured_join_the_next_is_not_guessed(database: Path) -> None:
    sql = "select * from orders o positional join nothing join customers c on c.customer_id = o.customer_id"
    found = measure(database, sql)
    assert [a.problem for a in found] == [
        "POSITIONAL joins pair rows by order",
        "a join before it could not be measured",
    ]


def test_a_join_that_takes_too_long_is_reported_and_the_engine_lives(database: Path) -> None:
    async def run() -> Any:
        async with Engine(database, LIMITS.model_copy(update={"seconds": 1})) as engine:
            many = "(select i, i % 2 as half from range(3000000) t(i))"
            found = await audit(engine, f"select count(*) from {many} a join {many} b on a.half = b.half")
            return found, await engine.query("select 1")

    (found,), after = asyncio.run(run())
    assert found.problem == "query took longer than 1 s" or "memory" in found.problem
    assert after.rows == ((1,),)


def test_queries_without_joins_have_no_audits(database: Path) -> None:
    assert (
        measure(database, "select count(*) from orders where customer_id in (select customer_id from customers)") == ()
    )
    assert measure(database, "values (1)") == ()


def test_names_in_the_data_cannot_bend_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('create table a ("__row0" int, k int)')
        connection.execute("insert into a values (7, 1), (7, 2), (7, 2)")
        connection.execute('create table j (k int, "__row1" int, "c0" int)')
        connection.execute("insert into j values (1, null, 1), (2, null, 1)")
        connection.execute('create table "x""; drop table a; --\n\u202e" ("k"" or 1=1 --" int)')
        connection.execute('insert into "x""; drop table a; --\n\u202e" values (1)')
    for sql in ("select a.k from a join j on a.k = j.k", "select a.k from a, j where a.k = j.k"):
        assert counts(measure(path, sql)[0]) == (3, 2, 3, 0, 0, 0)
    for sql in ("with j as (select 1 as k) select * from a join j using (k)",
                "with recursive j(k) as (select 1 union all select k + 1 from j where k < 1) from a join j using (k)"):  # fmt: skip
        assert counts(measure(path, sql)[0]) == (3, 1, 1, 2, 0, 0)
    sql = 'select * from a join "x""; drop table a; --\n\u202e" x on a.k = x."k"" or 1=1 --"'
    assert counts(measure(path, sql)[0]) == (3, 1, 1, 2, 0, 0)


def test_what_sqlglot_reads_in_another_way_is_guarded_all_the_same(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a query is taken apart to, the pieces are put together as SQL that the gate sees again."""
    taken = chains("select * from orders join customers using (customer_id)")[0]
    for piece in (
        "orders using (customer_id)) select 1; drop table orders; --",
        "read_text('/etc/passwd')",
        "(select getenv('HOME'))",
    ):
        source = dataclasses.replace(taken.sources[1], sql=piece)
        bent = dataclasses.replace(taken, sources=(taken.sources[0], source))
        monkeypatch.setattr(joins, "chains", lambda sql, bent=bent: [bent])
        (found,) = measure(database, "select 1")
        assert "not allowed" in found.problem


def test_hundreds_of_joins_are_taken_apart_in_a_moment() -> None:
    many = ", ".join(f"c{i} as (select 1 from orders a join orders b on true)" for i in range(600))
    began = time.process_time()
    assert len(chains(f"with {many} select 1")) == 600
    assert time.process_time() - began < 20
