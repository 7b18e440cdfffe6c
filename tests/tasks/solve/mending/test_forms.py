"""Text that writes numbers and days: queries that take it for what its characters are not, run before and after."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import ColumnProfile, Profile, TableProfile
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.core.sql.forms import measure
from tasks.solve.mending.repair import converted, repair
from tasks.solve.mending.scopes import Schema

CASES = tomllib.loads((Path(__file__).parents[3] / "cases" / "solve" / "forms.toml").read_text("utf-8"))["case"]
COLUMNS = ("shop", "opened", "revenue", "amount", "share", "due", "fee", "code")
ROWS = [
    ("a", "01.02.2019", "1.234", "12", "12,5 %", "01/02/2019", "$1,234.50", "0012"),
    ("b", "13.05.2018", "2.500,50", "7,5", "3 %", "03/24/2019", "$12.00", "0045"),
    ("c", "24.12.2020", "980", "3", "7,25 %", "12/01/2019", "$20", "0007"),
    ("d", "05.06.2017", "1.100", "4,25", "11 %", "05/06/2019", "$30.25", "0030"),
    ("e", "31.01.2019", "450,25", "6", "9 %", "07/08/2019", "$3.25", "0001"),
]


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Profile]:
    path = tmp_path_factory.mktemp("shops") / "catalogue.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute(f"CREATE TABLE shops ({', '.join(f'{name} VARCHAR' for name in COLUMNS)})")
        db.executemany(f"INSERT INTO shops VALUES ({', '.join('?' * len(COLUMNS))})", ROWS)
        forms = measure(lambda sql: db.execute(sql).fetchall(), "shops", COLUMNS)
    columns = tuple(
        ColumnProfile(name=name, type="VARCHAR", null_share=0, distinct=5, form=forms.get(name)) for name in COLUMNS
    )
    return path, Profile(tables=(TableProfile(name="shops", origin="shops.csv", rows=5, columns=columns),), joins=())


@pytest.fixture(scope="module")
def answers(shops: tuple[Path, Profile]) -> dict[str, tuple[list[list[Any]] | None, list[str]]]:
    """All cases by one engine: a child for each would take minutes."""
    path, profile = shops

    async def run() -> dict[str, tuple[list[list[Any]] | None, list[str]]]:
        async with Engine(path, load().query) as engine:
            return {case["name"]: await answered(engine, Schema(profile), case["sql"]) for case in CASES}

    return asyncio.run(run())


async def answered(engine: Engine, schema: Schema, sql: str) -> tuple[list[list[Any]] | None, list[str]]:
    """As the solver does it: mended while it fails, and once more when it runs."""
    reasons: list[str] = []
    for left in (3, 2, 1, 0):
        try:
            found = await engine.query(sql)
        except QueryError as error:
            made = repair(sql, error.message, schema) if left else None
        else:
            made = converted(sql, schema)
            if made:
                found, sql, reasons = await engine.query(made.sql), made.sql, [*reasons, *made.reasons]
            assert not converted(sql, schema), f"once is enough: {sql}"
            return [list(row) for row in found.rows], reasons
        if made is None:
            return None, [*reasons, sql]
        sql, reasons = made.sql, [*reasons, *made.reasons]
    return None, reasons


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_text_is_read_as_its_column_writes_it(
    case: dict[str, Any], answers: dict[str, tuple[list[list[Any]] | None, list[str]]]
) -> None:
    rows, reasons = answers[case["name"]]
    assert rows == case["rows"], reasons
    assert bool(reasons) != case.get("same", False), reasons
    assert case.get("reason", "") in "\n".join(reasons)
