"""Statements of tests/cases/sql → the guard's verdict on each."""

from pathlib import Path

import duckdb
import pytest

from tasks.core.sql import guard

CASES = Path(__file__).parents[2] / "cases" / "sql"
TABLES = ("sales", "products", "订单", "odd name; drop table sales")
GOOD = (CASES / "good.sql").read_text("utf-8").splitlines()
HOSTILE = [line.split(" |", 1) for line in (CASES / "hostile.txt").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("sql", GOOD)
def test_a_select_over_the_tables_passes(sql: str) -> None:
    assert guard.check(sql, TABLES) is None


@pytest.mark.parametrize(("reason", "sql"), HOSTILE)
def test_anything_else_is_refused_with_its_reason(reason: str, sql: str) -> None:
    verdict = guard.check(sql, TABLES)
    assert verdict is not None
    assert reason in verdict


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select " + "(" * 3000 + "1" + ")" * 3000, "nested too deeply"),
        ("select " + "+".join("1" * 5000), "nested too deeply"),
        ("select " + "(select " * 400 + "1" + ")" * 400, "nested too deeply"),
        ("select '\ud800'", "no text"),
        ("select 1 \0; drop table sales", "no text"),
        ("select '" + "x" * 60_000 + "'", "60009 characters"),
    ],
)
def test_oversized_statements_are_refused(sql: str, reason: str) -> None:
    assert reason in str(guard.check(sql, TABLES))


def test_syntax_errors_say_where() -> None:
    verdict = guard.check("select 城市\nfrom sales\nwhere 金额 >> > 3", TABLES)
    assert verdict == "syntax error at or near \">\" (line 3, after 'lect 城市 from sales where 金额 >>')"


def test_long_lists_of_tables_are_cut_and_counted() -> None:
    verdict = guard.check("from nowhere", [f"t{number}" for number in range(45)])
    assert "and 15 more" in str(verdict)


def test_no_function_that_chance_or_the_session_decides_is_let_through() -> None:
    """DuckDB's own catalogue says which functions are volatile; a new version may add one."""
    harmless = {"error", "setseed"}
    rows = (
        duckdb.connect()
        .execute("select distinct function_name from duckdb_functions() where stability = 'VOLATILE'")
        .fetchall()
    )
    names = {str(name) for (name,) in rows} - harmless
    assert len(names) > 5
    assert [name for name in names if guard.check(f"select {name}(1)", ()) is None] == []


def test_what_passes_also_binds_in_duckdb() -> None:
    connection = duckdb.connect()
    connection.execute("create table sales (region varchar, product_id int, amount double, day varchar)")
    connection.execute("create table products (id int, name varchar, kind varchar, day varchar)")
    connection.execute('create table "订单" ("金额" double, 城市 varchar)')
    connection.execute('create table "odd name; drop table sales" (a int)')
    failed = []
    for sql in GOOD:
        try:
            connection.execute(sql).fetchall()
        except duckdb.Error as error:
            failed.append((sql, str(error).splitlines()[0]))
    assert failed == []
