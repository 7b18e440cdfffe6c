"""Index and recall over real tables: values under and above the cap, reasons, vectors, and what goes wrong."""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from endpoint import Body, Endpoint, Status
from searcher import Searcher
from shop import question

from tasks.core.files.store import Folder, Store, use
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.catalogue import Catalogue, Column, Table
from tasks.core.models.context import Recalled, SearchIndex, Terms
from tasks.core.models.metadata import ColumnInfo, Metadata, MetricInfo, TableInfo
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import Settings, load
from tasks.solve.index import index_catalogue
from tasks.solve.recall import recall
from tasks.solve.terms import write_terms

MANY = 400
TABLES: dict[str, dict[str, list[Any]]] = {
    "firms": {
        "firm": [f"公司{n:03}" for n in range(MANY)]
        + ["ＡＣＭＥ Ltd", "O'Neil; DROP TABLE firms", "北京云海科技有限公司"],
        "city": ["北京", "上海", None] * 134 + ["北京"],
    },
    "people": {"name": ["Ann", "李娜"], "city": ["上海", "Bonn"], "amount": [1.5, 2.5]},
    "sales": {"firm": ["公司001"], "amount": [9.5], "long": ["x" * 300]},
}
METADATA = Metadata(
    tables=tuple(TableInfo(name=n, origin=n, role="fact", rows=9) for n in TABLES),
    columns=tuple(
        ColumnInfo(
            id=f"{table}.{name}",
            table=table,
            name=name,
            type="DOUBLE" if name == "amount" else "VARCHAR",
            role="dimension",
            aliases=("金额",) if name == "amount" else (),
        )
        for table, columns in TABLES.items()
        for name in columns
    ),
    metrics=(MetricInfo(id="m1", name="GMV", aliases=("销售总额",), columns=("sales.amount",)),),
)


def catalogue(store: Store, folder: Path, tables: dict[str, dict[str, list[Any]]] = TABLES) -> Catalogue:
    path = folder / "c.duckdb"
    made = []
    with duckdb.connect(str(path)) as db:
        for table, columns in tables.items():
            kinds = {name: "DOUBLE" if name == "amount" else "VARCHAR" for name in columns}
            db.execute(f"CREATE TABLE {table} ({', '.join(f'{n} {k}' for n, k in kinds.items())})")
            rows = list(zip(*columns.values(), strict=True))
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
            made.append(
                Table(
                    name=table,
                    path=f"{table}.csv",
                    columns=tuple(Column(name=n, type=k) for n, k in kinds.items()),
                    rows=len(rows),
                )
            )
    return Catalogue(database=store.put_file(path), tables=tuple(made), files=())


class World:
    """The tables, their index, and questions over them."""

    def __init__(self, store: Store, folder: Path, **recalling: Any) -> None:
        overrides: dict[str, Any] = {"recall": {"value_cap": 100, "expand": False, **recalling}}
        overrides["retry"] = {"first_seconds": 0.01, "longest_seconds": 0.02}
        self.settings: Settings = load(overrides=overrides)
        self.catalogue = catalogue(store, folder)
        self.door = Door(self.settings, store, Meter(self.settings.budget))
        self.index = self.build()

    def build(self) -> SearchIndex:
        with door.use(self.door):
            bounds = (self.settings.recall, self.settings.query)
            return asyncio.run(index_catalogue.function(self.catalogue, METADATA, *bounds))

    def ask(self, text: str, **terms: tuple[str, ...]) -> Recalled:
        recalling = self.settings.recall

        async def run() -> Recalled:
            found = await write_terms.function(question(text), METADATA, Knowledge(), "", recalling)
            found = found.model_copy(update=terms)
            bounds = (recalling, self.settings.query, self.settings.stores)
            return await recall.function(found, self.index, self.catalogue, METADATA, *bounds)

        with door.use(self.door):
            return asyncio.run(run())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("recall")
    with use(Store(Folder(folder / "store"), folder / "cache")) as opened:
        yield World(opened, folder)


def test_values_under_the_cap_are_indexed_and_columns_above_it_named(world: World) -> None:
    assert world.index.unindexed == ("firms.firm",)
    assert world.index.entries == len(METADATA.columns) + 1 + len({"北京", "上海", "Ann", "李娜", "Bonn", "公司001"})
    assert world.index.problems == () and world.build() == world.index


@pytest.mark.parametrize(
    ("text", "id", "value", "says"),
    [
        ("上海的人", "people.city", "上海", "'上海' stands in"),
        ("sales to BONN", "people.city", "Bonn", "in another case or width stands in"),
        ("what does acme ltd sell?", "firms.firm", "ＡＣＭＥ Ltd", "in another case or width stands in"),
        ("sales of O'Neil; DROP TABLE firms", "firms.firm", "O'Neil; DROP TABLE firms", "stands in"),
        ("统计云海科技的金额", "firms.firm", "北京云海科技有限公司", "holds '云海科技'"),
    ],
)
def test_c3_values_are_found_with_column_and_reason(world: World, text: str, id: str, value: str, says: str) -> None:
    found = world.ask(text)
    hits = [hit for hit in found.values if (hit.id, hit.value) == (id, value)]
    assert len(hits) == 1 and says in hits[0].reason
    assert hits[0].why == ("scan" if id == "firms.firm" else "lexical")
    assert found.values[0].value == value and not found.problems


def test_a_model_s_terms_are_searched_too(world: World) -> None:
    assert world.ask("who?", values=("bonn",)).values[0].value == "Bonn"
    assert world.ask("who?", columns=("金额",)).columns[0].id.endswith(".amount")
    assert world.ask("who?", metrics=("销售总额",)).metrics[0].id == "m1"


def test_of_equal_names_that_counts_whose_table_is_meant(world: World) -> None:
    assert world.ask("the amount of people").columns[0].id == "people.amount"
    assert world.ask("the amount of sales").columns[0].id == "sales.amount"
    assert world.ask("李娜的金额").columns[0].id == "people.amount"
    assert "met" in world.ask("the amount of sales").columns[0].reason


def test_hits_are_bounded_and_sorted(store: Store, tmp_path: Path) -> None:
    found = World(store, tmp_path, columns=2, values=1).ask("city amount of 上海 and 北京 and bonn")
    assert len(found.columns) == 2 and len(found.values) == 1
    assert found.columns[0].score >= found.columns[1].score


def test_a_look_that_had_no_time_is_said(store: Store, tmp_path: Path) -> None:
    found = World(store, tmp_path, scan_seconds=0).ask("acme ltd")
    assert found.values == ()
    assert (
        "1 of 1 columns with more than 100 values were not looked through within 0 s: firms.firm" in found.problems[0]
    )


def test_a_catalogue_whose_columns_cannot_be_read_gives_an_index_of_names(store: Store, tmp_path: Path) -> None:
    made = World(store, tmp_path)
    gone = made.catalogue.tables[1].model_copy(update={"name": "gone"})
    made.catalogue = made.catalogue.model_copy(update={"tables": (*made.catalogue.tables, gone)})
    extra = tuple(c.model_copy(update={"id": c.id.replace("people", "gone")}) for c in METADATA.columns[2:4])
    metadata = METADATA.model_copy(update={"columns": (*METADATA.columns, *extra)})
    index = asyncio.run(index_catalogue.function(made.catalogue, metadata, made.settings.recall, made.settings.query))
    assert index.unindexed == ("firms.firm", "gone.city", "gone.name")
    assert "values of 2 columns are not indexed" in index.problems[0]


MEANINGS = {"turnover": (1.0, 0.0, 0.0), "amount": (0.9, 0.1, 0.0), "city": (0.0, 1.0, 0.0)}


def embeddings(body: dict[str, Any]) -> Body:
    """The meaning of the first word that has one; other texts mean nothing that another means."""
    items = [
        {
            "index": n,
            "embedding": next(
                (v for word, v in MEANINGS.items() if word in text), (0.0, 0.0, 1.0 if ";" in text else -1.0)
            ),
        }
        for n, text in enumerate(body["input"])
    ]
    return Body(json.dumps({"object": "list", "model": "m", "data": items}).encode())


def test_c3_vectors_find_what_shares_no_word_and_ranks_are_fused(store: Store, tmp_path: Path) -> None:
    with Endpoint(embeddings) as endpoint:
        world = World(store, tmp_path, embedding="small", embedding_url=endpoint.url)
        assert world.index.vectors and not world.index.problems
        found = world.ask("turnover in sales")
        calls = len(endpoint.requests)
        assert world.ask("turnover in sales") == found and len(endpoint.requests) == calls
    best = found.columns[0]
    assert best.id == "sales.amount" and best.why == "fused" and "near in meaning" in best.reason
    assert any(hit.id == "people.amount" and hit.why == "vector" for hit in found.columns)


def test_an_embedding_model_that_fails_leaves_the_words(store: Store, tmp_path: Path) -> None:
    with Endpoint(lambda _: Status(500)) as endpoint:
        world = World(store, tmp_path, embedding="small", embedding_url=endpoint.url)
    assert world.index.vectors is None and world.index.unsettled == "stopped"
    assert "no vectors, words alone are searched" in world.index.problems[0]
    found = world.ask("the amount of sales")
    assert found.columns[0].id == "sales.amount" and found.columns[0].why == "lexical"
    assert found.problems == world.index.problems


def test_a_question_that_gets_no_vector_is_searched_by_words(store: Store, tmp_path: Path) -> None:
    replies: list[Any] = [embeddings]
    with Endpoint(lambda body: replies[-1](body)) as endpoint:
        world = World(store, tmp_path, embedding="small", embedding_url=endpoint.url)
        replies.append(lambda _: Status(500))
        found = world.ask("the amount of sales")
    assert found.columns[0].id == "sales.amount" and found.unsettled == "stopped"
    assert "words alone were searched" in found.problems[0]


def on_servers(world: World, servers: dict[str, str]) -> World:
    made = copy.copy(world)
    made.settings = world.settings.model_copy(update={"stores": world.settings.stores.model_copy(update=servers)})
    return made


def alike(one: Recalled, other: Recalled) -> bool:
    def plain(found: Recalled) -> list[tuple[Any, ...]]:
        hits = (*found.columns, *found.metrics, *found.values)
        return [(hit.id, hit.value, hit.why, hit.reason, round(hit.score, 6)) for hit in hits]

    return plain(one) == plain(other)


@pytest.mark.parametrize("server", ["elasticsearch", "opensearch"])
def test_a_text_index_on_a_server_is_filled_once_and_used(
    world: World, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    monkeypatch.setenv("TEXT_STORE_API_KEY", "k3y")
    with Searcher() as searcher:
        monkeypatch.setenv("TEXT_STORE_URL", searcher.url)
        made = on_servers(world, {"text": server})
        for text in ("上海的人", "the amount of sales", "sales to BONN", "销售总额", "公司001 or acme ltd"):
            found = made.ask(text)
            assert alike(found, world.ask(text)) and not found.problems and not found.unsettled
    assert searcher.requests.count("PUT ") == searcher.requests.count("POST _bulk") == 1
    assert searcher.requests.count("POST _search") > 20
    assert {told["authorization"] for told in searcher.headers} == {"ApiKey k3y"}


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://me:s3cret%2Fof@127.0.0.1:9/deep", "http://127.0.0.1:9/deep cannot be used"),
        ("http://[me:s3cret/of", "cannot be used"),
        ("", "the environment variable 'TEXT_STORE_URL' is not set"),
    ],
)
def test_a_server_that_is_away_is_said_and_the_embedded_index_used(
    world: World, monkeypatch: pytest.MonkeyPatch, url: str, says: str
) -> None:
    monkeypatch.setenv("TEXT_STORE_URL", url)
    monkeypatch.setenv("TEXT_STORE_API_KEY", "k3y")
    found = on_servers(world, {"text": "opensearch"}).ask("上海的人")
    assert alike(found, world.ask("上海的人")) and found.unsettled == "stopped"
    assert says in found.problems[0] and "the embedded one was used; next: " in found.problems[0]
    assert "s3cret" not in found.model_dump_json() and "k3y" not in found.model_dump_json()


def test_a_server_that_ends_between_two_searches_costs_no_hit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with Searcher() as searcher:
        monkeypatch.setenv("TEXT_STORE_URL", searcher.url)
        searcher.ends_after = 6
        found = on_servers(world, {"text": "opensearch"}).ask("上海的人")
    assert alike(found, world.ask("上海的人")) and "it answered 503" in found.problems[0]


def test_vectors_in_qdrant_are_found_alike(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qdrant_client", reason="needs qdrant-client: pip install --no-deps -r requirements-stores.txt")
    monkeypatch.setenv("VECTOR_STORE_URL", f"file://{tmp_path / 'qdrant'}")
    with Endpoint(embeddings) as endpoint:
        world = World(store, tmp_path, embedding="small", embedding_url=endpoint.url)
        expected = world.ask("turnover in sales")
        found = on_servers(world, {"vectors": "qdrant"}).ask("turnover in sales")
    assert alike(found, expected) and not found.problems and found.columns[0].why == "fused"
    assert (tmp_path / "qdrant").is_dir()


def test_a_store_without_its_extra_is_said(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECTOR_STORE_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with Endpoint(embeddings) as endpoint:
        world = World(store, tmp_path, embedding="small", embedding_url=endpoint.url)
        found = on_servers(world, {"vectors": "qdrant"}).ask("turnover in sales")
    assert found.columns[0].why == "fused" and found.unsettled == "stopped"
    assert "qdrant_client is not installed" in found.problems[0] and "requirements-stores.txt" in found.problems[0]


def test_nothing_to_find_is_no_trouble(store: Store, tmp_path: Path) -> None:
    empty = catalogue(store, tmp_path, {})
    settings = load(overrides={"recall": {"expand": False}})
    bounds = (settings.recall, settings.query)
    index = asyncio.run(index_catalogue.function(empty, Metadata(), *bounds))
    found = asyncio.run(recall.function(Terms(question="?"), index, empty, Metadata(), *bounds, settings.stores))
    assert (found.columns, found.metrics, found.values, index.entries) == ((), (), (), 0)
