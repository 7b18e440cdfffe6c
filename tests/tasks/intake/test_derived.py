"""Tables drawn from documents beside the sources: types, clashing names, one query over both, nothing else offered."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tasks.core.errors import InputError, QueryError
from tasks.core.files import store as stores
from tasks.core.files.store import Folder, Store
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.document import ColumnQuality, Converted, Derivation, DerivedTable
from tasks.core.models.query import QueryResult
from tasks.core.process import ChildError, Worker
from tasks.core.settings import load
from tasks.core.sql.engine import Engine
from tasks.intake.catalogue import build_catalogue
from tasks.intake.derived import add_derived, describe_documents
from tasks.intake.inventory import take_inventory

COLUMNS = {"code": "text", "opened": "date", "share": "number", "staff": "integer", "空": "number"}


def table(folder: Path, store: Store) -> DerivedTable:
    path = folder / "depots.sqlite"
    with sqlite3.connect(path) as db:
        db.execute('CREATE TABLE depots (code TEXT, opened TEXT, share REAL, staff INTEGER, "空" REAL)')
        db.executemany(
            "INSERT INTO depots VALUES (?, ?, ?, ?, ?)",
            [("007", "2020-02-29", 0.5, 3, None), ("008", None, 2.0, None, None)],
        )
        db.execute("CREATE TABLE _cells (record TEXT)")
        db.execute("CREATE TABLE _columns (name TEXT)")
    db.close()
    return DerivedTable(
        stem="depots",
        table="depots",
        paths=("depots.pdf",),
        database=store.put_file(path),
        key="code",
        records=2,
        columns=tuple(
            ColumnQuality(name=n, type=t, verified=1, unverified=int(n == "share"))  # type: ignore[arg-type]
            for n, t in COLUMNS.items()
        ),
        perfect=False,
    )


def both(tmp_path: Path) -> tuple[Store, Catalogue]:
    """A catalogue with a CSV file and a document that go by the same name."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "depots.csv").write_text("code,city\n007,Graz\n008,茶城\n", "utf-8")
    store = Store(Folder(tmp_path / "store"), tmp_path / "store" / "cache")
    settings = load()

    async def main() -> Catalogue:
        sources = await build_catalogue(await take_inventory(str(folder), settings.intake), settings.intake)
        text = store.put(b"Depot 007\nDepot 008\n", "depots.md")
        document = Converted(stem="depots", paths=("depots.pdf",), status="converted", text=text, lines=2)
        skipped = document.model_copy(update={"stem": "news", "paths": ("news.pdf",)})
        derivation = Derivation(
            converted=(document, skipped),
            documents=(document, skipped),
            tables=(table(tmp_path, store),),
            outcomes=(("news", "judged not to matter for the question"),),
        )
        return describe_documents(await add_derived(sources, derivation.tables, settings.intake), derivation)

    with stores.use(store):
        return store, asyncio.run(main())


def query(store: Store, catalogue: Catalogue, sql: str) -> QueryResult:
    async def main() -> QueryResult:
        async with Engine.over(catalogue, load().query) as engine:
            return await engine.query(sql)

    with stores.use(store):
        return asyncio.run(main())


def test_a_query_reads_sources_and_documents_side_by_side(tmp_path: Path) -> None:
    store, catalogue = both(tmp_path)
    names = [made.name for made in catalogue.tables]
    assert names == ["depots", "document_depots"]
    types = {column.name: column.type for column in catalogue.tables[1].columns}
    assert types == {"code": "VARCHAR", "opened": "DATE", "share": "DOUBLE", "staff": "BIGINT", "空": "DOUBLE"}
    sql = "SELECT city, year(opened), share FROM depots JOIN document_depots USING (code) ORDER BY code"
    assert query(store, catalogue, sql).rows == (("Graz", 2020, 0.5), ("茶城", None, 2.0))
    assert catalogue.derived and catalogue.derived.sha256 != catalogue.database.sha256


def test_rows_have_their_order_as_those_of_sources_do(tmp_path: Path) -> None:
    store, catalogue = both(tmp_path)
    for name in ("depots", "document_depots"):
        found = query(store, catalogue, f"SELECT rowid, code FROM {name} ORDER BY {name}.rowid DESC").rows
        assert found == ((1, "008"), (0, "007"))
    sql = "SELECT a.rowid, * FROM depots a JOIN document_depots b ON a.rowid = b.rowid ORDER BY ALL"
    assert [len(row) for row in query(store, catalogue, sql).rows] == [8, 8]


@pytest.mark.parametrize(
    "name", ["_cells", "_columns", "derived.main.depots", "derived.depots", "temp.document_depots"]
)
def test_nothing_but_the_table_is_offered(tmp_path: Path, name: str) -> None:
    store, catalogue = both(tmp_path)
    with pytest.raises(QueryError):
        query(store, catalogue, f"SELECT * FROM {name}")


def test_b12_quality_and_what_became_of_each_document_are_said(tmp_path: Path) -> None:
    _, catalogue = both(tmp_path)
    made = catalogue.tables[1]
    assert made.notes[0] == "drawn from a document, one row per code; imperfect" and made.path == "depots.pdf"
    assert {c.name: c.notes for c in made.columns if c.notes} == {"share": ("of its values 1 unverified",)}
    assert {d.path: d.note for d in catalogue.documents} == {
        "depots.pdf": "its table: document_depots",
        "news.pdf": "judged not to matter for the question",
    }


@pytest.mark.parametrize(
    ("reply", "words", "next_step"),
    [
        ({"disk": "No space left on device"}, "no room to load the table drawn from 'depots'", "store.path"),
        ({"error": "damaged"}, "the table drawn from 'depots' cannot be loaded: damaged", "intake.memory_mb"),
        (ChildError("died", stopped="disk"), "no room to load the table drawn from 'depots': died", "store.path"),
        (ChildError("stopped after 9 s", stopped="time"), "cannot be loaded: reading it stopped after 9 s", "doctor"),
    ],
)
def test_a_table_that_cannot_be_loaded_ends_the_run_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Any, words: str, next_step: str
) -> None:
    ask = Worker.ask

    async def asked(self: Worker, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        if request.get("kind") != "derived":
            return await ask(self, request, seconds)
        if isinstance(reply, ChildError):
            raise reply
        return dict(reply)

    monkeypatch.setattr(Worker, "ask", asked)
    with pytest.raises(InputError) as raised:
        both(tmp_path)
    assert words in raised.value.message and next_step in raised.value.hint
