"""Formats of text columns: each recipe is run over the values that it is made from."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.core.models.catalogue import Form
from tasks.core.sql.forms import measure, measure_small, recipe, told

CASES = tomllib.loads((Path(__file__).parents[2] / "cases" / "sql" / "forms.toml").read_text("utf-8"))["case"]


def form_of(values: list[str]) -> tuple[Form | None, list[str]]:
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t (i INT, x VARCHAR)")
        db.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
        form = measure(lambda sql: db.execute(sql).fetchall(), "t", ["x"]).get("x")
        rows = db.execute(f"SELECT {recipe(form)} FROM t ORDER BY i").fetchall() if form and form.sql else []
    return form, [str(row[0]) for row in rows]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_recipe_reads_the_values_it_is_made_from(case: dict[str, Any]) -> None:
    form, gives = form_of(case["values"])
    if "says" not in case:
        assert form is None
        return
    assert form and case["says"] in form.says
    assert gives == case["gives"]
    assert form.decided == ("undecided" not in case)
    assert case.get("undecided", "") in form.reading


def test_days_and_months_that_contradict_each_other_have_no_recipe() -> None:
    form, _ = form_of(["13.02.2019", "02.13.2019"])
    assert form and not form.sql and not form.decided


def test_the_knowledge_decides_what_the_values_leave_open() -> None:
    form, _ = form_of(["1,200", "950"])
    assert form
    assert told(form, "nothing of it", "x") is form
    settled = told(form, "Notes:\n- x has a decimal comma", "x")
    assert settled.decided and "'.'" in settled.sql
    assert told(form, "x has thousands separators", "x").sql == form.sql


def test_columns_of_small_tables_looked_at_together_have_the_forms_that_each_has_alone() -> None:
    with duckdb.connect() as db:

        def run(sql: str) -> list[tuple[Any, ...]]:
            return db.execute(sql).fetchall()

        places: list[tuple[str, str]] = []
        alone: dict[tuple[str, str], Form] = {}
        for at, case in enumerate(CASES):
            table = f"t {at // 2}"  # two columns each, where the lengths agree
            column = f"x{at}"
            db.execute(f'CREATE TABLE IF NOT EXISTS "{table}" (i INT)')
            db.execute(f'ALTER TABLE "{table}" ADD COLUMN {column} VARCHAR')
            db.executemany(f'INSERT INTO "{table}" ({column}) VALUES (?)', [(value,) for value in case["values"]])
            places.append((table, column))
        small = [place for place in places if run(f'SELECT count(*) FROM "{place[0]}"')[0][0] <= 300]
        for table, column in small:
            if form := measure(run, table, [column]).get(column):
                alone[table, column] = form
        assert measure_small(run, small) == alone
        assert len(alone) > 10 and any(form.sql for form in alone.values())
