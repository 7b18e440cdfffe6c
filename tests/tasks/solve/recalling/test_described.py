"""Metadata kept on a real server: read back equal, not used when somebody changed it, and what happens without the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from servers import Server

from tasks.core.files.store import Store
from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo, TableInfo
from tasks.core.settings import load
from tasks.solve.describing.rows import as_json
from tasks.solve.recalling.described import described

TOLD = Metadata(
    tables=(TableInfo(name="销售", origin="a.csv", role="fact", rows=3, aliases=("sales", "a'b")),),
    columns=(
        ColumnInfo(id="销售.额", table="销售", name="额", type="DOUBLE", role="measure", examples=("1.5", ""), unit="元"),
        ColumnInfo(id="销售.k", table="销售", name="k", type="BIGINT", role="foreign_key", refers_to="b.k", match_rate=1 / 3),
    ),
    metrics=(MetricInfo(id="m", name="GMV", formula="sum(额)", columns=("销售.额",), filters=("k > 1",), line=4),),
)  # fmt: skip


def kept(store: Store) -> Metadata:
    return TOLD.model_copy(update={"database": store.put(as_json(TOLD), "metadata.json"), "problems": ("a note",)})


def places(server: str) -> Any:
    return load(overrides={"stores": {"metadata": server, "prefix": "mine"}}).stores


@pytest.mark.service
@pytest.mark.parametrize(("program", "server"), [("postgres", "postgresql"), ("mariadb", "mysql")])
def test_metadata_comes_back_equal_and_changed_rows_are_not_used(
    store: Store,
    database_of: Callable[[str], Server],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    server: str,
) -> None:
    database, metadata = database_of(program), kept(store)
    monkeypatch.setenv("METADATA_STORE_URL", database.url)
    assert described(metadata, places(server)) == described(metadata, places(server)) == (metadata, "")
    assert database.run("select count(*) from mine_column_info") == [(2,)]
    assert database.run("select name, unit from mine_column_info where unit = '元'") == [("额", "元")]
    database.run("update mine_column_info set description = 'not so' where unit = '元'")
    found, problem = described(metadata, places(server))
    assert found == metadata and "rows of the metadata store were changed" in problem


@pytest.mark.parametrize(("driver", "server"), [("psycopg", "postgresql"), ("pymysql", "mysql")])
def test_a_server_that_is_away_is_said_without_its_password(
    store: Store, monkeypatch: pytest.MonkeyPatch, driver: str, server: str
) -> None:
    pytest.importorskip(
        driver, reason=f"{driver} is not installed: pip install --no-deps -r requirements-databases.txt"
    )
    monkeypatch.setenv("METADATA_STORE_URL", f"{server}://me:s3cret@127.0.0.1:9/base")
    found, problem = described(kept(store), places(server))
    assert found == kept(store) and f"the metadata store at {server}://127.0.0.1:9/base cannot be used" in problem
    assert "the embedded one was used; next: see whether the server runs" in problem and "s3cret" not in problem


@pytest.mark.parametrize(
    ("url", "says"), [("", "is not set"), ("ftp://x/y", "no URL of PostgreSQL"), ("mysql://host", "names no database")]
)
def test_a_url_of_nothing_is_said(store: Store, monkeypatch: pytest.MonkeyPatch, url: str, says: str) -> None:
    monkeypatch.setenv("METADATA_STORE_URL", url)
    found, problem = described(kept(store), places("mysql"))
    assert found == kept(store) and says in problem and "next: " in problem
