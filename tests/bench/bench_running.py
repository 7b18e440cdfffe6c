"""What an answer costs beside its queries: a sandbox's start, a replay, the report; each beside a plain peer."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import publishing
import pytest
from bench.conftest import Limit, Race, drive

from tasks.core.evidence.outline import outline
from tasks.core.files.store import Store
from tasks.core.models.answer import AnswerTable, Contract, Question
from tasks.core.models.evidence import Check, Evidence, Replay, Solving
from tasks.core.models.source import ArtifactRef
from tasks.core.sandbox.runner import run_program
from tasks.core.sql.engine import Engine
from tasks.solve.publishing.replay import replay
from tasks.solve.publishing.report.page import render

_ROWS = [1_000, 10_000, 100_000]


@pytest.mark.parametrize("size", [1, 3, 9])
def bench_sandbox(race: Race, settings: Any, store: Store, size: int) -> None:
    async def all_of() -> list[Any]:
        return [(await run_program(f"result = [({n},)]", {}, settings.sandbox)).value for n in range(size)]

    drive(all_of())
    limit = Limit("bare Python", 10.0, why="namespaces, a system-call filter, limits, and pandas ready to use")
    race(("sandbox", "ours", size, "programs"), lambda: drive(all_of()), limit=limit)


@pytest.mark.parametrize("size", [1, 3, 9])
@pytest.mark.parametrize(("who", "program"), [("bare Python", "pass"), ("bare Python with pandas", "import pandas")])
def bench_bare_python(race: Race, who: str, program: str, size: int) -> None:
    def all_of() -> None:
        for _ in range(size):
            subprocess.run([sys.executable, "-c", program], check=True)

    race(("sandbox", who, size, "programs"), all_of)


def _orders(store: Store, folder: Path, rows: int) -> Any:
    path = folder / "orders.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE orders AS SELECT i AS id, 'name ' || (i * 7919 % 1000003) AS name, i * 37 % 1000000 / 100 AS amount, "
            f"date '2020-01-01' + (i % 1500)::INTEGER AS day FROM range({rows}) t(i)"
        )
    return store.put_file(path, "orders.duckdb")


_SQL = "SELECT name, amount, day FROM orders"


@pytest.mark.parametrize("size", _ROWS)
def bench_replay(race: Race, settings: Any, store: Store, tmp_path: Path, size: int) -> None:
    database = _orders(store, tmp_path, size)

    async def seen() -> Any:
        async with Engine(store.local(database), settings.query) as engine:
            return await engine.query(_SQL)

    candidate = publishing.candidate(drive(seen()), _SQL)
    parts = outline(_SQL)

    async def again() -> Any:
        async with Engine(store.local(database), settings.query) as engine:
            return await replay(candidate, parts, engine, settings.sandbox, tmp_path)

    limit = Limit(
        "DuckDB COPY",
        5.0,
        why="sorts, digests and writes every row, cell by cell as the evidence names them, in a child with limits",
    )
    made = race(("replay", "ours", size, "rows"), lambda: drive(again()), limit=limit)
    assert made.replay.rows == size


@pytest.mark.parametrize("size", _ROWS)
def bench_replay_by_duckdb(race: Race, store: Store, tmp_path: Path, size: int) -> None:
    database = store.local(_orders(store, tmp_path, size))

    def copy() -> None:
        with duckdb.connect(str(database), read_only=True) as connection:
            connection.execute(f"COPY ({_SQL} ORDER BY ALL) TO '{tmp_path / 'peer.csv'}' (HEADER)")

    race(("replay", "DuckDB COPY", size, "rows"), copy)
    assert sum(1 for _ in (tmp_path / "peer.csv").open()) == size + 1


def _table(size: int) -> AnswerTable:
    rows = tuple((f"name {n} 名称", n * 1.5, "2024-01-01") for n in range(size))
    file = ArtifactRef(sha256="0" * 64, name="answer.csv", size=1)
    return AnswerTable(
        columns=("name", "total", "day"), types=("VARCHAR", "DOUBLE", "DATE"), rows=rows, row_count=size, file=file
    )


@pytest.mark.parametrize("size", [100, 1_000, 10_000])
def bench_report(race: Race, size: int) -> None:
    table, evidence = _table(size), _evidence(size)
    render(evidence, table)
    limit = Limit("pandas to_html", 5.0, why="beside the table all of the evidence, everything escaped")
    page = race(("report", "ours", size, "rows"), lambda: render(evidence, table), limit=limit)
    assert page.count("名称") == size


def _evidence(rows: int) -> Evidence:
    return Evidence(
        question=Question(text="Who spent most?", as_of=date(2024, 4, 1)),
        status="not_assessed",
        reason="replayed and equal",
        contract=Contract(),
        replay=Replay(sql=_SQL, columns=("name", "total", "day"), expected="d", digest="d", rows=rows),
        outline=outline(_SQL),
        used=(),
        joins=(),
        statements=(),
        checks=(Check(name="duplicates", outcome="passed", detail="no row occurs twice"),),
        doubts=(),
        sources=(),
        solving=Solving(
            style="json",
            ended="submitted",
            chosen=None,
            samples=1,
            agreement=None,
            candidates=(),
            steps=(),
            problems=(),
        ),
        models={},
        usage=(),
        versions={},
    )


@pytest.mark.parametrize("size", [100, 1_000, 10_000])
def bench_report_by_pandas(race: Race, size: int) -> None:
    import pandas

    table = _table(size)
    page = race(
        ("report", "pandas to_html", size, "rows"),
        lambda: pandas.DataFrame(table.rows, columns=table.columns).to_html(),
    )
    assert page.count("名称") == size
