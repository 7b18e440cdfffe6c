"""Every case of tests/cases/solve/headings.toml, with the names that DuckDB itself gives to the query's columns."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.solve.publishing.headings import headings

CASES = tomllib.loads((Path(__file__).parents[3] / "cases" / "solve" / "headings.toml").read_text("utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_columns_without_a_name_get_readable_headings(case: dict[str, Any]) -> None:
    with duckdb.connect() as database:
        database.execute("CREATE TABLE orders (id INT, region TEXT, amount INT, price INT, day DATE, status TEXT)")
        database.execute('CREATE TABLE "订单" ("城市" TEXT, "金额" INT)')
        database.execute('CREATE TABLE odd (amount INT, "Price (USD)" INT, "a/b" INT)')
        sql = case["sql"] + (" GROUP BY ALL" if "FROM odd" in case["sql"] else "")
        found = database.execute(sql).description
    assert headings(sql, tuple(column[0] for column in found or ())) == tuple(case["headings"])


def test_a_query_that_cannot_be_read_keeps_its_names() -> None:
    assert headings("SELEC count(*) FRM", ("count_star()", "x", "x")) == ("count_star()", "x", "x_2")
