"""What leaves a query without rows: the first table, join or condition, counted."""

from __future__ import annotations

import asyncio
import tomllib

import pytest
from truth import CASES, folder_of

from tasks.core.files.store import Folder, Store, use
from tasks.core.models.evidence import Check
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.solve.checking.emptied import emptied, with_reason

TOLD = tomllib.loads((CASES / "emptied.toml").read_text("utf-8"))["case"]
FILES = {
    "shops.csv": "shop,city,size\na,Malmö,12\nb,Oslo,30\nc,New York,7\nd,Oslo,9\n",
    "sales.csv": "sale_id,shop,qty\n1,a,3\n2,a,1\n3,b,4\n",
    "门店表.csv": "门店,城市\n甲,上海市\n乙,北京市\n",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("emptied")

    async def look() -> dict[str, str]:
        async with Engine.over(catalogue, load().query) as engine:
            said = {case["sql"]: await emptied(engine, case["sql"]) for case in TOLD}
        return {sql: check.detail if check else "" for sql, check in said.items()}

    with use(Store(Folder(folder / "store"), folder / "cache")):
        catalogue, _ = folder_of(folder / "task", FILES)
        return asyncio.run(look())


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case["sql"][:80])
def test_the_first_that_leaves_no_row_is_said(found: dict[str, str], case: dict[str, str]) -> None:
    assert found[case["sql"]] == (f"the answer has no rows: {case['why']}" if case["why"] else "")


def test_the_check_of_rows_is_the_one_that_says_it() -> None:
    rows, ties, why, unmade = (
        Check(name=name, outcome="noted", detail=detail)
        for name, detail in (("rows", "x"), ("ties", "x"), ("rows", "y"), ("unmade check", "z"))
    )
    assert with_reason((rows, ties), None) == (rows, ties)
    assert with_reason((rows, ties), why) == (ties, why)
    assert with_reason((rows, ties), unmade) == (rows, ties, unmade)
