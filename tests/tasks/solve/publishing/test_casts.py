"""How a query reads text: what its casts lose, over real rows."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import parse_one

from tasks.core.models.catalogue import ColumnProfile, Profile, TableProfile
from tasks.core.models.evidence import Check
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.core.sql.forms import measure
from tasks.solve.mending.forms import loose, turned
from tasks.solve.mending.scopes import Schema
from tasks.solve.publishing.casts import audit_casts

CASES = tomllib.loads((Path(__file__).parents[3] / "cases" / "solve" / "casts.toml").read_text("utf-8"))["case"]
COLUMNS = ("shop", "opened", "revenue", "amount", "due", "grade", "price", "cost", "weight", "load")
ROWS = [
    ("a", "01.02.2019", "1.234", "12", "01/02/2019", "1", "1,200", "900", "12 kg", "12 kg"),
    ("b", "13.05.2018", "2.500,50", "7,5", "03/24/2019", "2", "950", "1200", "3 kg", "700 g"),
    ("c", "24.12.2020", "980", "3", "12/01/2019", "n/a", "3,400", "85", "40 kg", "3 kg"),
    ("d", "05.06.2017", "1.100", "4,25", "05/06/2019", "", "800", "ca. 430", "5 kg", ""),
    ("e", "31.01.2019", "450,25", "6", "07/08/2019", "3", "20", "430", "6 kg", "5 kg"),
]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Check, ...]]:
    path = tmp_path_factory.mktemp("shops") / "catalogue.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute(f"CREATE TABLE shops ({', '.join(f'{name} VARCHAR' for name in COLUMNS)})")
        db.executemany(f"INSERT INTO shops VALUES ({', '.join('?' * len(COLUMNS))})", ROWS)
        forms = measure(lambda sql: db.execute(sql).fetchall(), "shops", COLUMNS)
    columns = tuple(
        ColumnProfile(name=name, type="VARCHAR", null_share=0, distinct=5, form=forms.get(name)) for name in COLUMNS
    )
    table = TableProfile(name="shops", origin="shops.csv", rows=5, columns=columns)
    profile = Profile(tables=(table,), joins=())
    mixed = {"mixed, smallest": "SELECT min(cost) FROM shops", "mixed, ordered": "SELECT shop FROM shops ORDER BY cost DESC LIMIT 1",
             "mixed, counted": "SELECT count(cost) FROM shops WHERE cost = '85'"}  # fmt: skip
    undecided = "SELECT sum(CAST(replace(price, ',', '') AS DOUBLE)) FROM shops"

    async def run() -> dict[str, tuple[Check, ...]]:
        async with Engine(path, load().query) as engine:
            queries = {case["name"]: case["sql"] for case in CASES} | {"undecided": undecided} | mixed
            return {name: await audit_casts(engine, sql, profile) for name, sql in queries.items()}

    return asyncio.run(run())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_a_query_loses_or_takes_for_something_else_is_a_doubt(
    case: dict[str, Any], checked: dict[str, tuple[Check, ...]]
) -> None:
    found = checked[case["name"]]
    said = "\n".join(check.detail for check in found)
    assert all(part in said for part in case["says"]), said
    assert bool(found) == bool(case["says"]), said
    assert all(check.outcome == "failed" for check in found)


def test_the_reading_taken_of_an_undecided_format_is_said(checked: dict[str, tuple[Check, ...]]) -> None:
    (check,) = checked["undecided"]
    assert check.outcome == "noted"
    assert "'1,200' is read as 1200" in check.detail and "`price has a decimal comma`" in check.detail


@pytest.mark.parametrize("name", ["mixed, smallest", "mixed, ordered"])
def test_text_that_is_mostly_numbers_goes_back_where_its_order_counts(
    name: str, checked: dict[str, tuple[Check, ...]]
) -> None:
    (check,) = checked[name]
    assert (check.outcome, check.detail) == (
        "failed", "cost is text, 4 of its 5 values are numbers, and its order is that of characters"
    )  # fmt: skip
    assert checked["mixed, counted"] == ()


AREAS = ColumnProfile(
    name="面积", type="VARCHAR", null_share=0, distinct=4, minimum="110公顷", maximum="9.75公顷", shape="d公顷"
)
WITH_UNITS = {
    "units in another order": (AREAS, True, True),
    "units in the order of their numbers": (AREAS.model_copy(update={"minimum": "2 kg", "maximum": "9 kg", "shape": "d a"}), True, False),
    "thousands": (AREAS.model_copy(update={"minimum": "1,200 t", "maximum": "950 t", "shape": "1,234 a"}), True, True),
    "days": (AREAS.model_copy(update={"minimum": "1/2/2024", "maximum": "9/2/2024", "shape": "d/d/d"}), False, False),
    "ranges": (AREAS.model_copy(update={"minimum": "1-2", "maximum": "9-10", "shape": "d-d"}), False, False),
    "codes": (AREAS.model_copy(update={"minimum": "A12", "maximum": "D5", "shape": "ad"}), False, False),
    "no common shape": (AREAS.model_copy(update={"shape": ""}), False, False),
}  # fmt: skip


@pytest.mark.parametrize(("profile", "is_told", "surely"), WITH_UNITS.values(), ids=WITH_UNITS)
def test_the_order_of_numbers_with_units_is_told(profile: ColumnProfile, is_told: bool, surely: bool) -> None:
    schema = Schema(Profile(tables=(TableProfile(name="g", origin="g.csv", rows=4, columns=(profile,)),), joins=()))
    for sql in ('SELECT * FROM g ORDER BY "面积" DESC LIMIT 1', 'SELECT max("面积") FROM g'):
        found = [*loose(parse_one(sql, read="duckdb"), schema)]
        assert found == ([profile] if is_told else []) and [turned(one) for one in found] == [surely] * len(found)
    assert not [*loose(parse_one("SELECT count(*) FROM g WHERE \"面积\" = '9 kg'", read="duckdb"), schema)]
