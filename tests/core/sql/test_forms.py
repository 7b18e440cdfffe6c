"""Formats of text columns: each recipe is run over the values that it is made from."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.core.models.catalogue import Form
from tasks.core.sql.forms import measure, recipe, told

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
