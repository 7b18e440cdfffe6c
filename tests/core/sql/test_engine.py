"""The engine against real DuckDB files: results, limits, restarts, exports."""

import asyncio
import csv
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from world import wait_for

from tasks.core.errors import QueryError
from tasks.core.sections import QuerySettings
from tasks.core.sql.engine import Engine

LIMITS = QuerySettings(seconds=20, memory_mb=2048, preview_rows=3, max_rows=1000)
SLOW = "with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("engine") / "catalogue.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("create table sales (id bigint, region varchar, amount double, day date)")
    connection.execute(
        "insert into sales values (1, 'north', 1.5, '2024-01-01'), (2, 'south', null, '2024-01-02'), "
        "(3, '', 2, null), (4, '华北, \"x\"', 1e10, '2024-01-04'), (123456789012345678, 'east', 0.1, '2024-01-05')"
    )
    connection.execute('create table "订单" ("金额" double, "select" varchar)')
    connection.execute("insert into \"订单\" values (10, 'a')")
    connection.execute("create table many as select i, 'name' || i as name from range(2500) t(i)")
    connection.close()
    return path


def use(database: Path, body: Callable[[Engine], Awaitable[Any]], limits: QuerySettings = LIMITS) -> Any:
    async def run() -> Any:
        async with Engine(database, limits) as engine:
            return await body(engine)

    return asyncio.run(run())


async def failure(engine: Engine, sql: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        await engine.query(sql)
    return caught.value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("'infinity'::date", "infinity"),
        ("'-infinity'::date", "-infinity"),
        ("'infinity'::timestamp", "infinity"),
        ("'-infinity'::timestamptz", "-infinity"),
        ("date '9999-12-31'", "9999-12-31"),
        ("date '0001-01-01'", "0001-01-01"),
    ],
)
def test_a_day_that_never_comes_stays_infinite(database: Path, tmp_path: Path, value: str, shown: str) -> None:
    sql = f"select {value} as d, timestamp '2024-01-02 03:04:05.5' as t, timestamp '2024-01-02 03:04:05' as u, day from sales where id = 1"
    result = use(database, lambda engine: engine.query(sql))
    assert result.rows == ((shown, "2024-01-02 03:04:05.500000", "2024-01-02 03:04:05", "2024-01-01"),)
    use(database, lambda engine: engine.export(sql, tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith(f"{shown},")
    measured = use(database, lambda engine: engine.measure([f"select {value} as d"], 20))
    assert measured == [[(shown,)]]


def test_a_query_shows_a_preview_and_counts_all(database: Path) -> None:
    result = use(database, lambda engine: engine.query("select * from sales order by id", 2))
    assert result.columns == ("id", "region", "amount", "day")
    assert result.types == ("BIGINT", "VARCHAR", "DOUBLE", "DATE")
    assert result.rows == ((1, "north", 1.5, "2024-01-01"), (2, "south", None, "2024-01-02"))
    assert (result.row_count, result.truncated, result.shown_all) == (5, False, False)
    assert result.seconds < 20


def test_names_of_any_kind_and_repeated_columns_come_back(database: Path) -> None:
    result = use(database, lambda engine: engine.query('select "金额", "select", 1 as "金额", 2 as 金额 from "订单"'))
    assert result.columns == ("金额", "select", "金额", "金额")
    assert result.rows == ((10.0, "a", 1, 2),)
    assert result.shown_all


def test_an_empty_result_has_columns_and_a_digest(database: Path) -> None:
    result = use(database, lambda engine: engine.query("select id, region from sales where false"))
    assert (result.columns, result.rows, result.row_count) == (("id", "region"), (), 0)
    assert len(result.digest) == 32


def test_more_rows_than_the_limit_are_cut_and_said(database: Path) -> None:
    result = use(database, lambda engine: engine.query("select * from many"))
    assert (result.row_count, result.truncated, len(result.rows)) == (1000, True, 3)
    exact = use(database, lambda engine: engine.query("select * from many where i < 1000"))
    assert (exact.row_count, exact.truncated) == (1000, False)


def test_intervals_and_nanoseconds_are_not_rounded(database: Path) -> None:
    sql = "select interval '1 month' as a, timestamp_ns '2024-01-01 00:00:00.123456789' as a, i from range(3) t(i) order by i desc;"
    result = use(database, lambda engine: engine.query(sql))
    assert result.columns == ("a", "a", "i")
    assert result.rows[0] == ("1 month", "2024-01-01 00:00:00.123456789", 2)
    assert result.types[:2] == ("INTERVAL", "TIMESTAMP_NS")


def test_wrapping_never_breaks_a_query(database: Path) -> None:
    result = use(database, lambda engine: engine.query("select interval '2 day' as a; -- the end"))
    assert result.row_count == 1


def test_rows_too_wide_to_show_are_refused_and_leave_no_file(database: Path, tmp_path: Path) -> None:
    async def body(engine: Engine) -> None:
        assert "too much text to show" in str(await failure(engine, "select repeat('x', 20000000) as wide"))
        with pytest.raises(QueryError):
            await engine.export("select repeat('x', 20000000) as wide", tmp_path / "answer.csv")
        assert (await engine.query("select length(repeat('x', 20000000))")).rows == ((20000000,),)

    use(database, body)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_catalogue_is_a_query_error(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text("not a database" * 1000)
    for path in (tmp_path / "x.duckdb", tmp_path / "missing.duckdb"):
        with pytest.raises(QueryError, match="IO Error"):
            use(path, lambda engine: engine.query("select 1"))


@pytest.mark.parametrize("memory_mb", [64, 128, 192])
def test_too_little_memory_to_start_is_said(database: Path, memory_mb: int) -> None:
    """The library does not fit, or what it sets up at its start."""
    with pytest.raises(QueryError, match=f"more memory than its limit of {memory_mb} MB"):
        use(database, lambda engine: engine.query("select 1"), LIMITS.model_copy(update={"memory_mb": memory_mb}))


def test_memory_bombs_cost_only_their_child(database: Path) -> None:
    bombs = [
        "select length(repeat('x', 2000000000) || repeat('y', 2000000000))",
        "select len(range(2000000000))",
        "select printf('%2000000000d', 1)",
        "select list(i) from range(200000000) t(i)",
    ]

    async def body(engine: Engine) -> None:
        for bomb in bombs:
            assert "more memory than its limit of 2048 MB" in str(await failure(engine, bomb))
            assert (await engine.query("select 42")).rows == ((42,),)

    use(database, body)


def test_slow_queries_are_killed_on_time(database: Path) -> None:
    async def body(engine: Engine) -> None:
        for sql in (SLOW, "select count(*) from range(10000000) a, range(10000000) b"):
            assert (await failure(engine, sql)).message == "query took longer than 1.5 s"
            assert (await engine.query("select count(*) from sales")).rows == ((5,),)

    use(database, body, LIMITS.model_copy(update={"seconds": 1.5}))


def test_a_dead_child_is_replaced(database: Path) -> None:
    async def body(engine: Engine) -> None:
        await engine.query("select 1")
        process = engine._worker._process
        assert process is not None
        os.kill(process.pid, 9)
        wait_for(lambda: process.poll() is not None)
        assert (await engine.query("select count(*) from many")).rows == ((2500,),)
        await engine.close()
        assert (await engine.query("select 7")).rows == ((7,),)

    use(database, body)


def test_queries_side_by_side_do_not_mix(database: Path) -> None:
    async def body(engine: Engine) -> list[Any]:
        results = await asyncio.gather(*(engine.query(f"select {number}") for number in range(20)))
        return [result.rows[0][0] for result in results]

    assert use(database, body) == list(range(20))


def test_refusals_and_errors_are_query_errors(database: Path) -> None:
    async def body(engine: Engine) -> list[str]:
        sqls = [
            "drop table sales",
            "from '/etc/passwd'",
            "select regio from sales",
            "select name from sales",
            "from sale",
        ]
        return [(await failure(engine, sql)).message for sql in sqls]

    assert use(database, body) == [
        "DROP is not allowed: send one SELECT (WITH … SELECT is fine)",
        "'/etc/passwd' is a file, not a table: query one of the tables (many, sales, 订单)",
        'Binder Error: Referenced column "regio" not found in FROM clause; did you mean sales.region',
        "Binder Error: Referenced column \"name\" not found in FROM clause; 'name' belongs to many: join that table, "
        "or name it in this part of the query",
        "there is no table 'sale', did you mean 'sales'? (tables: many, sales, 订单)",
    ]


def test_the_connection_is_locked_even_without_the_guard(database: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary.txt"
    canary.write_text("secret")
    before = database.read_bytes()
    attacks = [
        f"select * from read_text('{canary}')",
        f"copy sales to '{tmp_path / 'out.csv'}'",
        f"attach '{tmp_path / 'new.db'}' as n",
        "set enable_external_access = true",
        "set memory_limit = '100GB'",
        "drop table sales",
        "insert into sales values (1, 'x', 1, null)",
        "install httpfs",
        f"from query('select * from read_text(''{canary}'')')",
    ]

    async def body(engine: Engine) -> None:
        for attack in attacks:
            with pytest.raises(QueryError):
                await engine.measure([attack], 20)

    use(database, body)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["canary.txt"]
    assert database.read_bytes() == before


def test_nothing_of_one_request_is_there_for_the_next(database: Path) -> None:
    """Temporary tables and variables need no right to write; one named like a table would stand in for it."""

    async def body(engine: Engine) -> None:
        await engine.measure(
            ["create temp table sales as select 99 as id", "create temp macro max(x) as 0", "set variable v = 1"], 20
        )
        assert (await engine.query("select max(id), count(*) from sales")).rows == ((123456789012345678, 5),)
        assert await engine.measure(["select getvariable('v'), current_setting('TimeZone')"], 20) == [[(None, "UTC")]]

    use(database, body)


@pytest.mark.slow
def test_more_cells_than_a_reply_may_hold_are_refused(database: Path) -> None:
    wide = "select i" + "".join(f", i as c{number}" for number in range(50)) + " from range(90000) t(i)"
    limits = LIMITS.model_copy(update={"seconds": 120, "max_rows": 1_000_000})
    with pytest.raises(QueryError, match="more than 4000000 values"):
        use(database, lambda engine: engine.query(wide, 100_000), limits)


def test_an_export_holds_every_row(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "answer.csv"

    async def body(engine: Engine) -> Any:
        sql = "select id, region, amount, day from sales order by id"
        result = await engine.export(sql, target)
        assert result == (await engine.query(sql)).model_copy(update={"seconds": result.seconds})
        return result

    result = use(database, body)
    assert result.row_count == 5
    assert target.read_bytes().decode() == (
        "id,region,amount,day\n1,north,1.5,2024-01-01\n2,south,,2024-01-02\n3,\"\",2.0,\n"
        '4,"华北, ""x""",10000000000.0,2024-01-04\n123456789012345678,east,0.1,2024-01-05\n'
    )  # fmt: skip
    with target.open(encoding="utf-8", newline="") as file:
        assert [row[1] for row in csv.reader(file)][4] == '华北, "x"'


def test_a_failed_export_leaves_no_file(database: Path, tmp_path: Path) -> None:
    async def body(engine: Engine) -> None:
        for sql in ("select nothing from sales", "select 'x'::int from many", SLOW):
            with pytest.raises(QueryError):
                await engine.export(sql, tmp_path / "answer.csv")

    use(database, body, LIMITS.model_copy(update={"seconds": 0.5}))
    assert list(tmp_path.iterdir()) == []


def test_measurements_are_rows_of_each_statement(database: Path) -> None:
    async def body(engine: Engine) -> Any:
        return await engine.measure(["select count(*), max(region) from sales", "select 1 where false"], 20)

    assert use(database, body) == [[(5, "华北, \"x\"")], []]  # fmt: skip


def test_results_do_not_change_from_run_to_run(tmp_path: Path) -> None:
    path = tmp_path / "big.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("create table big as select i * 7919 % 5000 as k, i / 3 as v from range(400000) t(i)")
    connection.close()
    sql = "select k, count(*), sum(v), first(v) from big group by k limit 7"
    found = {use(path, lambda engine: engine.query(sql)).rows for _ in range(4)}
    assert len(found) == 1


def test_importing_the_engine_does_not_import_duckdb() -> None:
    code = "import sys, tasks.core.sql.engine, tasks.core.sql.guard; assert 'duckdb' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
