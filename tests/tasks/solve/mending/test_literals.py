"""Values that a question names, and texts of a query as they are stored."""

from __future__ import annotations

import asyncio
from pathlib import Path

import duckdb
import pytest

from tasks.core.models.catalogue import ColumnProfile, Profile, TableProfile
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.solve.mending.literals import mend_literals, mentions
from tasks.solve.mending.scopes import Schema

ROWS = [
    ("Garden Tools", "Open ", "Y", "区域A"),
    ("garden", "CLOSED", "N", "华北"),
    ("Toys", "open", "N", "华北"),
    ("x", "closed", "N", "华东"),
]
COLUMNS = ("Category", "state", "active", "地区")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Profile]:
    path = tmp_path_factory.mktemp("shop") / "catalogue.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE items (Category VARCHAR, state VARCHAR, active VARCHAR, 地区 VARCHAR)")
        db.executemany("INSERT INTO items VALUES (?, ?, ?, ?)", ROWS)
        db.execute("CREATE TABLE other (Category VARCHAR)")
        db.execute("INSERT INTO other VALUES ('Toys')")
    columns = []
    for index, name in enumerate(COLUMNS):
        values = sorted({row[index] for row in ROWS})
        columns.append(
            ColumnProfile(name=name, type="VARCHAR", null_share=0, distinct=len(values), examples=tuple(values))
        )
    items = TableProfile(name="items", origin="items.csv", rows=4, columns=tuple(columns))
    other = TableProfile(name="other", origin="other.csv", rows=1, columns=(columns[0],))
    return path, Profile(tables=(items, other), joins=())


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How many garden tools are there?", [("Garden Tools", "items", "Category")]),
        ("How many gardens are there?", []),
        ("华北有多少？", [("华北", "items", "地区")]),
        ("Which toys are open?", [("Toys", "items", "Category"), ("open", "items", "state")]),
        ("What is x'); DROP TABLE items; --?", []),
    ],
)
def test_values_of_shown_tables_stand_in_the_question(
    shop: tuple[Path, Profile], question: str, found: list[tuple[str, str, str]]
) -> None:
    path, profile = shop

    async def look() -> list[tuple[str, str, str]]:
        async with Engine(path, load().query) as engine:
            hits = await mentions(engine, question, profile, ("items",))
        return [(hit.value, hit.table, hit.column) for hit in hits]

    assert asyncio.run(look()) == found


@pytest.mark.parametrize(
    ("sql", "rows", "reason"),
    [
        ("SELECT count(*) FROM items WHERE Category = 'GARDEN TOOLS'", 1, "'GARDEN TOOLS' is stored as 'Garden Tools'"),
        ("SELECT count(*) FROM items WHERE state = 'OPEN'", 2, "'OPEN' is stored as 'Open ', 'open'"),
        (
            "SELECT count(*) FROM items AS i WHERE i.state IN ('Closed ', 'none')",
            2,
            "'Closed ' is stored as 'CLOSED', 'closed'",
        ),
        ("SELECT count(*) FROM items WHERE 'yes' = active", 1, "'yes' is stored as 'Y'"),
        ("SELECT count(*) FROM items WHERE Category = '华北'", 2, "'华北' is not in Category but in items.地区"),
        ("SELECT count(*) FROM items WHERE state = 'missing'", None, ""),
        ("SELECT count(*) FROM items WHERE state = 'open'", None, ""),
        ("SELECT count(*) FROM items WHERE state <> 'OPEN'", None, ""),
        ("SELECT count(*) FROM (SELECT state AS s FROM items) WHERE s = 'OPEN'", None, ""),
    ],
)
def test_a_text_that_does_not_occur_is_written_as_it_does(
    shop: tuple[Path, Profile], sql: str, rows: int | None, reason: str
) -> None:
    path, profile = shop

    async def look() -> tuple[int | None, str]:
        async with Engine(path, load().query) as engine:
            made = await mend_literals(engine, sql, Schema(profile))
            if made is None:
                return None, ""
            return (await engine.query(made.sql)).rows[0][0], "; ".join(made.reasons)  # type: ignore[return-value]

    assert asyncio.run(look()) == (rows, reason)
