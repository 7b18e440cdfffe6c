"""Columns of small tables are measured together, and give what each gives alone."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import duckdb
import pytest

from tasks.core.settings import load
from tasks.core.sql import columns
from tasks.core.sql.columns import Facts, Wanted, measure_columns
from tasks.core.sql.engine import Engine

VALUES = {
    "BIGINT": "CASE WHEN i % 5 = 0 THEN NULL ELSE i % 7 END",
    "VARCHAR": "CASE i % 3 WHEN 0 THEN '华北' WHEN 1 THEN 'A-' || i ELSE '1,234' END",
    "DOUBLE": "i / 4.0",
    "DATE": "DATE '2026-01-01' + (i % 40)::INTEGER",
    "BOOLEAN": "i % 2 = 0",
    "INTEGER": "NULL",
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Forty small tables and a larger one, each with a column of every type."""
    path = tmp_path / "all.duckdb"
    chosen = ", ".join(f'({value})::{kind} AS "{kind} c"' for kind, value in VALUES.items())
    with duckdb.connect(str(path)) as connection:
        for at in range(40):
            connection.execute(f'CREATE TABLE "t {at}" AS SELECT {chosen} FROM range({at}) r(i)')
        connection.execute(f'CREATE TABLE "large" AS SELECT {chosen} FROM range(6000) r(i)')
    return path


def wanted(lost: str = "") -> list[Wanted]:
    tables = {**{f"t {at}": at for at in range(40)}, "large": 6000}
    found = [Wanted(table, f"{kind} c", kind, rows) for table, rows in tables.items() for kind in VALUES]
    return [*found, Wanted(lost, "c", "BIGINT", 3)] if lost else found


def measured(database: Path, asked: list[Wanted]) -> list[Facts]:
    async def run() -> list[Facts]:
        async with Engine(database, load().query) as engine:
            return await measure_columns(engine, asked, 5, time.monotonic() + 120)

    return asyncio.run(run())


def test_columns_measured_together_are_measured_as_alone(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = measured(database, wanted())
    monkeypatch.setattr(columns, "SMALL_ROWS", -1)
    assert together == measured(database, wanted())
    by_name = {(one.table, one.type): facts for one, facts in zip(wanted(), together, strict=True)}
    assert by_name["t 30", "VARCHAR"].common[0] == "1,234" and by_name["t 30", "VARCHAR"].distinct == 12
    assert by_name["large", "BIGINT"].filled == 4800 and not any(facts.problem for facts in together)


def test_a_column_that_cannot_be_measured_costs_only_itself(database: Path) -> None:
    *others, lost = measured(database, wanted("no such table"))
    assert lost.problem and others == measured(database, wanted())


def test_a_column_without_values_has_no_facts_and_no_problem(database: Path) -> None:
    by_name = {(one.table, one.type): facts for one, facts in zip(wanted(), measured(database, wanted()), strict=True)}
    for table, kind in (("t 0", "BIGINT"), ("t 0", "VARCHAR"), ("t 30", "INTEGER"), ("large", "INTEGER")):
        assert by_name[table, kind] == Facts(), (table, kind)


def test_what_no_time_is_left_for_says_so(database: Path) -> None:
    async def run() -> list[Facts]:
        async with Engine(database, load().query) as engine:
            return await measure_columns(engine, wanted(), 5, time.monotonic() - 1)

    assert {facts.problem for facts in asyncio.run(run())} == {columns.NO_TIME}
