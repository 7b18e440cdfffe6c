"""What isolation costs on this machine: each tier's start and call, and those of the SQL worker; medians."""

from __future__ import annotations

import asyncio
import contextlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from tasks.core.errors import QueryError
from tasks.core.sandbox import tiers
from tasks.core.sandbox.runner import run_in
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.solve.solving.program import compute

_QUERY = "select k, count(*), sum(v) from big join small using (k) where v > 10 group by k order by 2 desc limit 20"
_PANDAS = "import pandas as pd; result = pd.DataFrame({'a': [1]})"
_OVER_ROWS = "result = [{'n': len(rows), 'sum': sum(r['v'] for r in rows)}]"


def main() -> int:
    """Print the table."""
    print(f"{date.today()}, Python {platform.python_version()}, {platform.system()} {platform.release()}")
    print(f"{'':58} {'wall ms':>9} {'CPU ms':>9}")
    asyncio.run(_programs())
    asyncio.run(_sql())
    return 0


async def _programs() -> None:
    await _print("plain python -I -S", 15, _plain)
    limits = load().sandbox
    for cage in tiers.cages():
        name = f"{cage.tier}, {'own' if cage.own_user else 'shared'} user{' (' + cage.bubblewrap + ')' if cage.bubblewrap else ''}"
        name = name if len(name) < 58 else f"{cage.tier}, {'own' if cage.own_user else 'shared'} user"
        if problem := await tiers.trouble(cage):
            print(f"{name}: not here: {problem[:60]}")
            continue
        await _print(name, 15, lambda cage=cage: run_in(cage, "result = 1", {}, limits))
        await _print("  with import pandas", 5, lambda cage=cage: run_in(cage, _PANDAS, {}, limits))
        await _print("  finding out that it holds, once a process", 5, lambda cage=cage: tiers.trouble(cage))


async def _sql() -> None:
    settings = load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "catalogue.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table big as select i % 1000 as k, i as v from range(1000000) t(i)")
            connection.execute("create table small as select i as k from range(500) t(i)")
        inside = duckdb.connect(str(path), read_only=True, config={"threads": "1"})
        for name, sql in (("select 1", "select 1"), ("a join of 1,000,000 rows", _QUERY)):
            await _print(f"SQL in this process: {name}", 15, lambda sql=sql: _here(inside, sql))
            async with Engine(path, settings.query) as engine:
                await engine.query("select 1")
                await _print(f"SQL worker: {name}", 15, lambda sql=sql, engine=engine: engine.query(sql))
        inside.close()
        await _print("SQL worker: its start and first query", 7, lambda: _first(path))
        await _print("SQL worker: a query stopped at 1 s, and the next one", 3, lambda: _stopped(path))
        async with Engine(path, settings.query) as engine:
            rows = "select * from big limit 1000"
            await _print(
                "a program over 1,000 rows of a query", 5, lambda: compute(engine, rows, _OVER_ROWS, settings.sandbox)
            )


async def _print(name: str, times: int, action: Callable[[], Awaitable[Any]]) -> None:
    walls, works = [], []
    for _ in range(times):
        began, before = time.perf_counter(), _work()
        await action()
        walls.append(time.perf_counter() - began)
        works.append(_work() - before)
    print(f"{name:58} {statistics.median(walls) * 1000:9.1f} {statistics.median(works) * 1000:9.1f}", flush=True)


def _work() -> float:
    """Processor seconds of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def _plain() -> None:
    await asyncio.to_thread(subprocess.run, [sys.executable, "-I", "-S", "-c", "result = 1"], check=True)


async def _here(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    connection.execute(sql).fetchall()


async def _first(path: Path) -> None:
    async with Engine(path, load().query) as engine:
        await engine.query("select 1")


async def _stopped(path: Path) -> None:
    async with Engine(path, load().query.model_copy(update={"seconds": 1.0})) as engine:
        with contextlib.suppress(QueryError):
            await engine.query("select count(*) from range(10000000) a, range(10000000) b")
        await engine.query("select 1")
