"""A folder whose tables lie in a live database, from the command line to the evidence; and the run when it is down."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from servers import PASSWORD, Server
from world import ANSWER, ASKED, QUESTION, World, files

pytestmark = pytest.mark.service
YAML = "databases:\n  shop:\n    url_env: SHOP_URL\n    tables: [orders, products]\n"
ROWS = (
    "create table products (id int primary key, category varchar(20))",
    "create table orders (id int primary key, product_id int)",
    "insert into products values (1, '茶'), (2, 'cake')",
    "insert into orders values (1, 1), (2, 1), (3, 2)",
    "create table private (secret varchar(20))",
)


@pytest.mark.parametrize("which", ["postgres", "mariadb"])
def test_a_question_over_a_live_database_is_answered_from_its_snapshot(
    which: str, database_of: Callable[[str], Server], world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of(which)
    server.run(*ROWS)
    folder, out = tmp_path / "task", tmp_path / "out"
    folder.mkdir()
    (folder / "metadata.yaml").write_text(YAML)
    monkeypatch.setenv("SHOP_URL", server.url)
    world.answer(folder, out, question=QUESTION)
    assert (out / "answer.csv").read_text("utf-8") == ANSWER and world.endpoint.calls == ASKED
    evidence = json.loads((out / "evidence.json").read_text("utf-8"))
    (source,) = [file for file in evidence["sources"] if file["kind"] == "database"]
    assert source["path"] == f"{server.kind}://127.0.0.1:{server.port}/{server.database}"
    assert source["tables"] == ["orders", "products"] and len(source["sha256"]) == 64
    assert source["taken_at"].endswith("Z") and source["taken_at"].startswith("20")
    assert {table["inner"] for table in evidence["used"]} == {"orders", "products"}

    world.answer(folder, tmp_path / "again", question=QUESTION)
    assert world.endpoint.calls == ASKED, "an unchanged database needs no new work"
    server.run("insert into orders values (4, 2)")
    world.answer(folder, tmp_path / "changed", question=QUESTION)
    assert (tmp_path / "changed" / "answer.csv").read_text("utf-8") == "category,n\ncake,2\n茶,2\n"

    encoded = server.url.split("@")[0].rpartition(":")[2]
    for name, data in files(tmp_path).items():
        assert PASSWORD.encode() not in data and encoded.encode() not in data, name


def test_a_database_that_is_down_costs_only_its_tables(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "metadata.yaml").write_text("databases: {more: {url_env: MORE_URL}}")
    monkeypatch.setenv("MORE_URL", "postgresql://me:hunter2@127.0.0.1:9/more")
    refused = world.call("answer", str(folder), QUESTION, "--out", str(tmp_path / "none"))
    assert refused.returncode == 2 and "see whether the server runs" in refused.stderr
    (folder / "orders.csv").write_text("id,product_id\n1,1\n2,1\n3,2\n")
    (folder / "products.csv").write_text("id,category\n1,茶\n2,cake\n")
    world.answer(folder, tmp_path / "out", question=QUESTION)
    assert (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    (source,) = [file for file in evidence["sources"] if file["kind"] == "database"]
    assert source["outcome"] == "unreadable" and "see whether the server runs" in source["reason"]
    assert not [name for name, data in files(tmp_path).items() if b"hunter2" in data]
    assert "hunter2" not in refused.stderr + refused.stdout
