"""Queries that DuckDB refuses, and what code makes of them: each is run before and after."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest
from library import build

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import Profile
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.solve.mending.repair import repair
from tasks.solve.mending.scopes import Schema

CASES = tomllib.loads((Path(__file__).parents[3] / "cases" / "solve" / "repairs.toml").read_text("utf-8"))["case"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Profile]:
    path = tmp_path_factory.mktemp("library") / "catalogue.duckdb"
    return path, build(path)


async def mended(path: Path, profile: Profile, sql: str) -> tuple[list[list[Any]] | None, list[str]]:
    """Rows after at most three rounds of mending, None when it still fails; and the reasons."""
    reasons: list[str] = []
    async with Engine(path, load().query) as engine:
        for left in (3, 2, 1, 0):
            try:
                return [list(row) for row in (await engine.query(sql)).rows], reasons
            except QueryError as error:
                made = repair(sql, error.message, Schema(profile)) if left else None
                if made is None:
                    return None, reasons
                sql, reasons = made.sql, [*reasons, *made.reasons]
    return None, reasons


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_failing_query_is_mended_where_code_can_tell_how(case: dict[str, Any], library: tuple[Path, Profile]) -> None:
    rows, reasons = asyncio.run(mended(*library, case["sql"]))
    assert rows == (None if "fails" in case else case["rows"]), reasons
    assert reasons or "fails" in case
    assert case.get("reason", "") in "\n".join(reasons)


def test_two_ways_that_are_equally_good_are_no_way(library: tuple[Path, Profile]) -> None:
    path, profile = library
    second = profile.joins[0].model_copy(update={"left_column": "price"})
    unsure = profile.model_copy(
        update={"joins": (profile.joins[0], second.model_copy(update={"right_column": "birth_year"}))}
    )
    sql = "SELECT title FROM book WHERE city = 'Lyon' ORDER BY title"
    assert asyncio.run(mended(path, unsure, sql))[0] == [["Rain"], ["Snow"]], (
        "a link that the names speak for is better"
    )
    alike = profile.model_copy(update={"joins": (second, second.model_copy(update={"right_column": "birth_year"}))})
    assert asyncio.run(mended(path, alike, sql)) == (None, [])
