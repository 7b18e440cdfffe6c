"""Queries taken apart for readers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tasks.core.evidence.outline import outline, pretty

CASES = Path(__file__).parents[2] / "cases" / "evidence" / "outlines.toml"


@pytest.mark.parametrize("case", tomllib.loads(CASES.read_text("utf-8"))["case"], ids=lambda case: case["name"])
def test_the_parts_of_a_query(case: dict[str, Any]) -> None:
    found = outline(case["sql"]).model_dump(mode="json")

    expected = {part: value for part, value in case.items() if part not in ("name", "sql")}
    assert {part: found[part] for part in expected} == expected


def test_a_query_is_laid_out_for_reading() -> None:
    assert pretty("select a from t where b>1 order by a") == "SELECT\n  a\nFROM t\nWHERE\n  b > 1\nORDER BY\n  a"


@pytest.mark.parametrize("sql", ["select a -- 注释\nfrom t", "SUMMARIZE t", "selec"])
def test_a_query_with_comments_or_of_another_kind_stays_as_written(sql: str) -> None:
    assert pretty(f" {sql} ") == sql
