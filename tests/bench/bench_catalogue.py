"""Folder of 10, 100, 1,000 tables → catalogue, profile, search index, what a question recalls; each beside a plain peer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catalogues
import pytest
import recalling
from bench.conftest import Limit, Race, drive

from tasks.core.files.store import current
from tasks.core.models.answer import Question
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.solve.index import index_catalogue
from tasks.solve.profile import profile_tables
from tasks.solve.recall import recall
from tasks.solve.terms import write_terms

SIZES = (10, 100, 1000)


@dataclass(frozen=True)
class _Laid:
    folder: Path
    world: recalling.World
    asked: catalogues.Asked


@pytest.fixture(scope="module", params=SIZES)
def laid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Laid]:
    """The folder, and everything that is made of it once."""
    folder = tmp_path_factory.mktemp("made")
    questions = catalogues.make(folder, request.param)
    with recalling.desk() as settings:
        yield _Laid(folder, drive(recalling.build(folder, recalling.silent(settings))), questions[0])


def _size(laid: _Laid) -> int:
    return len(laid.world.catalogue.tables)


def bench_catalogue(race: Race, laid: _Laid) -> None:
    settings = laid.world.settings
    inventory = drive(take_inventory.function(str(laid.folder), settings.intake))
    limit = Limit(
        "pandas into DuckDB",
        5.0,
        why="counts the shapes of every value, keeps what cannot be read, in a child with limits",
    )
    of = ("catalogue", "ours", _size(laid), "tables")
    made = race(of, lambda: drive(build_catalogue.function(inventory, settings.intake)), limit=limit)
    assert len(made.tables) == _size(laid)


def bench_catalogue_by_pandas(race: Race, laid: _Laid, tmp_path: Path) -> None:
    import duckdb
    import pandas

    def load() -> int:
        (tmp_path / "peer.duckdb").unlink(missing_ok=True)
        with duckdb.connect(str(tmp_path / "peer.duckdb")) as into:
            for name, frame in _frames(laid.folder, pandas):
                into.register("frame", frame)
                into.execute(f'CREATE TABLE "{name}" AS FROM frame')
            return len(into.execute("SELECT 1 FROM duckdb_tables()").fetchall())

    assert race(("catalogue", "pandas into DuckDB", _size(laid), "tables"), load) == _size(laid)


def _frames(folder: Path, pandas: Any) -> Iterator[tuple[str, Any]]:
    for path in sorted((folder / "context" / "csv").glob("*.csv")):
        yield path.stem, pandas.read_csv(path)
    with closing(sqlite3.connect(folder / "context" / "db" / "warehouse.db")) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            yield name, pandas.read_sql_query(f'SELECT * FROM "{name}"', database)


def bench_profile(race: Race, laid: _Laid) -> None:
    world = laid.world
    limit = Limit(
        "DuckDB SUMMARIZE",
        5.0,
        why="candidate joins, formats and examples beside the counts of SUMMARIZE, in a child with limits",
    )
    given = (world.catalogue, world.knowledge, world.settings.profiling, world.settings.query)
    made = race(("profile", "ours", _size(laid), "tables"), lambda: drive(profile_tables.function(*given)), limit=limit)
    assert len(made.tables) == _size(laid)


def bench_profile_by_duckdb(race: Race, laid: _Laid) -> None:
    import duckdb

    database = current().local(laid.world.catalogue.database)

    def summarise() -> int:
        with duckdb.connect(str(database), read_only=True) as connection:
            return sum(
                bool(connection.execute(f'SUMMARIZE "{table.name}"').fetchall())
                for table in laid.world.catalogue.tables
            )

    assert race(("profile", "DuckDB SUMMARIZE", _size(laid), "tables"), summarise) == _size(laid)


def bench_index(race: Race, laid: _Laid) -> None:
    world = laid.world
    limit = Limit(
        "SQLite FTS5",
        5.0,
        why="cuts Chinese into words, keeps where each value stands",
    )
    given = (world.catalogue, world.metadata, world.settings.recall, world.settings.query)
    made = race(
        ("recall index", "ours", _size(laid), "tables"),
        lambda: drive(index_catalogue.function(*given)),
        limit=limit,
    )
    race.say(entries=f"{made.entries:,}")


def bench_index_by_sqlite(race: Race, laid: _Laid) -> None:
    def build() -> int:
        with closing(sqlite3.connect(":memory:")) as index:
            return _indexed(index, _values(laid))

    race.say(entries=f"{race(('recall index', 'SQLite FTS5', _size(laid), 'tables'), build):,}")


def _values(laid: _Laid) -> list[str]:
    """What is looked through: names of columns and distinct texts."""
    import duckdb

    found = [column.name for column in laid.world.metadata.columns]
    with duckdb.connect(str(current().local(laid.world.catalogue.database)), read_only=True) as connection:
        for table in laid.world.catalogue.tables:
            for column in table.columns:
                if column.type == "VARCHAR":
                    found += [
                        row[0]
                        for row in connection.execute(f'SELECT DISTINCT "{column.name}" FROM "{table.name}"').fetchall()
                    ]
    return list(dict.fromkeys(filter(None, found)))


def _indexed(index: sqlite3.Connection, values: list[str]) -> int:
    index.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
    index.executemany("INSERT INTO texts VALUES (?)", ((value,) for value in values))
    index.execute("INSERT INTO texts (texts) VALUES ('optimize')")
    index.commit()
    return len(values)


def bench_recall(race: Race, laid: _Laid) -> None:
    world, settings = laid.world, laid.world.settings
    question = Question(text=laid.asked.text, as_of=recalling.AS_OF)
    terms = drive(write_terms.function(question, world.metadata, world.knowledge, "", settings.recall))
    given = (terms, world.index, world.catalogue, world.metadata, settings.recall, settings.query, settings.stores)
    limit = Limit(seconds=1.0, why="no peer finds columns, metrics and values together")
    made = race(
        ("recall query", "ours", _size(laid), "tables"),
        lambda: drive(recall.function(*given)),
        rounds=5,
        limit=limit,
    )
    tables = {hit.id.rpartition(".")[0] for hit in made.columns}
    race.say(**{"needed table": "found" if set(laid.asked.tables) <= tables else "not found"})
