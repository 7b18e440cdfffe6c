"""Names that are attacks, from files through profile, brief, joins and evidence: each is a name, and only that."""

from __future__ import annotations

import asyncio
import csv
import json
import sqlite3
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tasks.core.evidence.outline import outline, pretty
from tasks.core.files.store import Folder, Store, use
from tasks.core.models.answer import Question
from tasks.core.models.catalogue import Catalogue, Profile
from tasks.core.models.semantics import Knowledge
from tasks.core.settings import Settings, load
from tasks.core.sql.engine import Engine
from tasks.core.sql.joins import audit
from tasks.core.sql.names import quote
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.solve.compress import compress
from tasks.solve.profile import profile_tables
from tasks.solve.showing.layout import spelled

NAMES: list[str] = tomllib.loads(
    (Path(__file__).parents[2] / "cases" / "attacks" / "names.toml").read_text("utf-8")
)["names"]  # fmt: skip
LOOK_ALIKE = ("sales", "s\u0430les", "\uff53ales")


class Measured(NamedTuple):
    """A folder whose every name is an attack, read and measured."""

    store: Store
    settings: Settings
    catalogue: Catalogue
    profile: Profile

    def ask(self, body: Callable[[Engine], Any]) -> Any:
        """What `body` finds with an engine over it."""

        async def run() -> Any:
            async with Engine(self.store.local(self.catalogue.database), self.settings.query) as engine:
                return await body(engine)

        return asyncio.run(run())


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Every name as a column of a CSV file, a key of JSON, and a table of SQLite whose rows tell its number."""
    root = tmp_path_factory.mktemp("identifiers")
    folder = root / "folder"
    folder.mkdir()
    numbers = range(len(NAMES))
    with (folder / "wide.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES, list(numbers), list(numbers)])
    record = {name: n for n, name in enumerate(NAMES)}
    (folder / "keys.json").write_text(json.dumps([record, record], ensure_ascii=False), "utf-8")
    with sqlite3.connect(folder / "t.db") as database:
        for number, name in enumerate(NAMES):
            if not (name.isascii() and name.lower() in {other.lower() for other in NAMES[:number]}):
                database.execute(f"CREATE TABLE {quote(name)} (k INTEGER, {quote(name + ' c')} TEXT)")
                database.executemany(f"INSERT INTO {quote(name)} VALUES (?, ?)", [(number, name), (number + 1, name)])
    return measure(root, folder)


def measure(root: Path, folder: Path) -> Measured:
    """Read and measure a folder, with a store in `root`."""
    settings = load(overrides={"store": {"path": str(root / "store")}})
    store = Store(Folder(root / "store"), root / "store" / "cache")

    async def run() -> tuple[Catalogue, Profile]:
        catalogue = await build_catalogue(await take_inventory(str(folder), settings.intake), settings.intake)
        return catalogue, await profile_tables(catalogue, Knowledge(), settings.profiling, settings.query)

    with use(store):
        return Measured(store, settings, *asyncio.run(run()))


def test_every_name_is_read_measured_and_queried_as_it_is(measured: Measured) -> None:
    catalogue, profile = measured.catalogue, measured.profile
    assert [file.outcome for file in catalogue.files] == ["table"] * 3
    assert not [c.notes for t in profile.tables for c in t.columns if any("not measured" in note for note in c.notes)]

    async def body(engine: Engine) -> None:
        for table in profile.tables:
            columns = ", ".join(spelled(column.name) for column in table.columns)
            sql = f"SELECT {columns} FROM {spelled(table.name)} AS q ORDER BY 1"
            found = await engine.query(sql)
            assert found.row_count == table.rows == 2
            first = [None if c.minimum is None else c.minimum[:200] for c in table.columns]
            assert [None if cell is None else str(cell)[:200] for cell in found.rows[0]] == first
            assert outline(sql).tables == (table.name,)
            assert (await engine.query(pretty(sql))).digest == found.digest

    measured.ask(body)


def test_marks_that_only_unicode_calls_line_ends_stay_within_values(tmp_path: Path) -> None:
    texts = [f"a{mark}b" for mark in "\u2028\u2029\x85\x0b\x0c\x1c"]
    folder = tmp_path / "folder"
    folder.mkdir()
    lines = [json.dumps({"t": text}, ensure_ascii=False) + "\n" for text in texts]
    (folder / "lines.jsonl").write_text("".join(lines), "utf-8")
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["n", "t"], *enumerate(texts)])

    async def body(engine: Engine) -> Any:
        return [(await engine.query(f"SELECT t FROM {name} ORDER BY t")).rows for name in ("rows", "lines")]

    rows = tuple((text,) for text in sorted(texts))
    assert measure(tmp_path, folder).ask(body) == [rows, rows]


def test_joins_of_such_tables_are_measured_and_look_alikes_stay_apart(measured: Measured) -> None:
    profile = measured.profile
    own = {next(iter(t.columns[1].examples)): t.name for t in profile.tables if len(t.columns) == 2}

    async def body(engine: Engine) -> None:
        for name in [name for name in own if len(name) < 200][::4]:
            number = NAMES.index(name)
            sql = f"SELECT count(*) FROM {spelled(own[name])} a JOIN plain b ON a.k = b.k + {number}"
            (found,) = await audit(engine, sql)
            assert (found.problem, found.left_rows, found.joined_rows) == ("", 2, 2)
        rows = [(await engine.query(f"SELECT min(k) FROM {spelled(own[name])}")).rows for name in LOOK_ALIKE]
        assert rows == [((NAMES.index(name),),) for name in LOOK_ALIKE]

    measured.ask(body)


def test_the_brief_spells_every_name_so_that_it_can_be_used(measured: Measured) -> None:
    profile = measured.profile
    asked = Question(text="plain", as_of=date(2024, 1, 1))
    brief = asyncio.run(compress.function(asked, profile, Knowledge(), measured.settings.brief))
    assert not brief.folded
    for table in profile.tables:
        assert f"\n{spelled(table.name)} (" in brief.text
        assert all(f"- {spelled(column.name)} " in brief.text for column in table.columns)
