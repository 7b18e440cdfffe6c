"""A folder becomes one catalogue: names, isolation of bad files, equal results, sources left alone."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from intake_cases import Built, build, intake_settings

from tasks.core.errors import InputError
from tasks.core.evidence import checks, lineage
from tasks.core.evidence.outline import outline
from tasks.core.files.store import GATE, Folder, Store, use
from tasks.core.process import Worker
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def database(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


def test_tables_of_one_name_get_a_prefix_by_source(folder: Path, tmp_path: Path) -> None:
    (folder / "orders.csv").write_text("a\n1\n")
    (folder / "Orders.json").write_text('[{"a": 2}]')
    database(folder / "north.db", "create table orders (a); insert into orders values (3);")
    database(folder / "south.db", "create table ORDERS (a); create table other (a);")
    built = build(folder, tmp_path / "store", child=True)
    assert {table.origin: table.name for table in built.catalogue.tables} == {
        "orders.csv": "csv__orders",
        "Orders.json": "json__Orders",
        "north.db::orders": "north__orders",
        "south.db::ORDERS": "south__ORDERS",
        "south.db::other": "other",
    }
    assert [built.rows(name) for name in ("csv__orders", "json__Orders", "north__orders")] == [[[1]], [[2]], [[3]]]
    assert all("other tables have that name too" in table.notes[-1] for table in built.catalogue.tables[:4])


def test_tables_of_one_name_and_kind_get_the_path(folder: Path, tmp_path: Path) -> None:
    for place in ("north/2020", "south/2020", "south/2021"):
        (folder / place).mkdir(parents=True)
        (folder / place / "sales.csv").write_text(f"place\n{place}\n")
    built = build(folder, tmp_path / "store", child=True)
    assert {table.path: table.name for table in built.catalogue.tables} == {
        "north/2020/sales.csv": "north_2020_sales__sales",
        "south/2020/sales.csv": "south_2020_sales__sales",
        "south/2021/sales.csv": "2021_sales__sales",
    }
    assert built.rows("south_2020_sales__sales") == [["south/2020"]]


def test_names_that_look_like_ours_or_the_engines_are_kept(folder: Path, tmp_path: Path) -> None:
    names = [
        "source_1",
        "source_2",
        "Source_3",
        "source_4",
        "_0",
        "__1",
        "sqlite_master",
        "duckdb_tables",
        "main",
        "temp",
    ]
    names += ["tablewright_draft", "arriving", "select", "a.b", "it's", 'q"x', "information_schema", "订单", "x" * 200]
    for name in names:
        (folder / f"{name}.csv").write_text("a\n1\n")
    (folder / "late.csv").write_text('a\n1\n"x\n')
    (folder / "late__set_aside.csv").write_text("b\n2\n")
    built = build(folder, tmp_path / "store", child=True)
    assert sorted(table.name for table in built.catalogue.tables) == sorted([*names, "late", "late__set_aside"])
    import duckdb

    with duckdb.connect(str(built.database), read_only=True) as connection:
        for name in names:
            quoted = name.replace('"', '""')
            assert connection.execute(f'select a from main."{quoted}"').fetchall() == [(1,)]
        assert connection.execute("select * from late__set_aside").fetchall() == [(2,)]
        assert connection.execute("select text from late__set_aside_").fetchall() == [('"x',)]


def test_titles_above_a_header_are_no_rows_that_could_not_be_read(folder: Path, tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["年度报告"], [], ["城市", "人口", "面积"], ["甲", 1, 2.5], ["乙", 2, 3.5]):
        book.active.append(row)
    book.save(folder / "cities.xlsx")
    (folder / "both.csv").write_text('Report of 2020\na,b,c\n1,2,3\n4,5,6\n7,8,9\n"x,y,z\n')
    built = build(folder, tmp_path / "store")
    counted = {
        table.name: (table.rows, table.set_aside, table.titles, table.unread) for table in built.catalogue.tables
    }
    assert counted == {"both": (3, 2, 1, 1), "cities": (2, 1, 1, 0)}
    notes = {table.name: table.notes[-1] for table in built.catalogue.tables}
    assert notes["both"] == "1 line is not in it; it is (and 1 above the header) kept in both__set_aside"
    assert notes["cities"] == "lines above the header are kept in cities__set_aside"
    sql = "select 城市 from cities"
    (used,) = lineage.used_tables(outline(sql), sql, built.catalogue)
    assert used.set_aside == 0 and not list(checks.tables_whole([used]))
    sql = "select a from both"
    (used,) = lineage.used_tables(outline(sql), sql, built.catalogue)
    assert [check.detail for check in checks.tables_whole([used])] == [
        "both lacks 1 row of both.csv that could not be read"
    ]


def test_a_bad_file_costs_itself_only(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a\n1\n")
    (folder / "b.json").write_text('[{"a": 1}, {"a"')
    (folder / "c.db").write_bytes(b"SQLite format 3\0" + b"\1" * 5000)
    (folder / "d.csv").write_text("d\n4\n")
    (folder / "knowledge.md").write_text("# k")
    built = build(folder, tmp_path / "store", child=True)
    assert [table.name for table in built.catalogue.tables] == ["a", "d"]
    assert {file.path: file.outcome for file in built.catalogue.files} == {
        "a.csv": "table",
        "b.json": "unreadable",
        "c.db": "unreadable",
        "d.csv": "table",
        "knowledge.md": "knowledge",
    }
    assert built.catalogue.unsettled == ""


@pytest.mark.parametrize("way", ["slow", "killed"])
def test_a_file_whose_reader_is_stopped_costs_itself_only(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The child is killed with half a table in the database; the next file gets a new child."""
    (folder / "a.csv").write_text("a\n1\n")
    (folder / "m.csv").write_text("m\n" + "1\n" * 400_000)
    (folder / "z.csv").write_text("z\n26\n")
    ask = Worker.ask

    async def stopped(self: Worker, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        if not str(request.get("path", "")).endswith("m.csv"):
            return await ask(self, request, seconds)
        if way == "slow":
            return await ask(self, request, 0.05)
        running = asyncio.create_task(ask(self, request, seconds))
        await asyncio.sleep(0.1)
        assert self._process
        os.kill(self._process.pid, 9)
        return await running

    monkeypatch.setattr(Worker, "ask", stopped)
    built = build(folder, tmp_path / "store", child=True)
    assert [table.name for table in built.catalogue.tables] == ["a", "z"]
    assert [built.rows("a"), built.rows("z")] == [[[1]], [[26]]]
    file = built.file("m.csv")
    assert file.outcome == "unreadable"
    assert ("stopped after" if way == "slow" else "signal 9") in file.reason
    assert built.catalogue.unsettled == ("stopped" if way == "slow" else "")


def test_a_file_that_needs_too_much_memory_costs_itself_only(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a\n1\n")
    with (folder / "m.json").open("w") as file:
        file.write('{"blob": "' + "x" * (300 << 20) + '"}')
    (folder / "z.csv").write_text("z\n26\n")
    built = build(folder, tmp_path / "store", memory_mb=1300, child=True)
    assert [table.name for table in built.catalogue.tables] == ["a", "z"]
    assert built.file("m.json").outcome == "unreadable"


def test_too_little_memory_for_any_file_is_said_once(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="files cannot be read here") as raised:
        build(folder, tmp_path / "store", memory_mb=300, child=True)
    assert "intake.memory_mb" in raised.value.hint


def test_a_stopped_file_is_tried_again_and_a_bad_one_is_not(folder: Path, tmp_path: Path) -> None:
    (folder / "m.csv").write_text("m\n" + "1\n" * 400_000)
    first = build(folder, tmp_path / "store", file_seconds=0.01, child=True)
    assert first.catalogue.unsettled == "stopped"
    records = list((tmp_path / "store" / "records").rglob("*.json"))
    assert records == []
    second = build(folder, tmp_path / "store", child=True)
    assert [table.rows for table in second.catalogue.tables] == [400_000]


def test_a_file_that_changes_under_the_reader(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a\n1\n")

    async def run() -> Any:
        inventory = await take_inventory(str(folder), intake_settings())
        (folder / "a.csv").write_text("a\n2\n")
        return await build_catalogue(inventory, intake_settings())

    with use(Store(Folder(tmp_path / "store"), tmp_path / "cache")):
        catalogue = asyncio.run(run())
    assert catalogue.tables == ()
    assert (catalogue.files[0].outcome, catalogue.unsettled) == ("unreadable", "stopped")
    assert "changed while it was read" in catalogue.files[0].reason


def test_a_full_disk_ends_the_run(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.csv").write_text("a\n1\n")

    async def full(self: Worker, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        return {"disk": "No space left on device"} if "path" in request else {}

    monkeypatch.setattr(Worker, "ask", full)
    with pytest.raises(InputError, match="no room to load") as raised:
        build(folder, tmp_path / "store", child=True)
    assert "store.path" in raised.value.hint


def shown(built: Built) -> Any:
    tables = [table.model_dump() for table in built.catalogue.tables]
    return tables, [built.rows(table.name) for table in built.catalogue.tables]


def test_equal_folders_give_equal_catalogues(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a,b\n" + "".join(f"{i},x{i}\n" for i in range(5000)))
    (folder / "b.json").write_text('{"table": "t", "records": [{"x": 1.5}, {"x": 2}]}')
    database(folder / "c.db", "create table c (a); insert into c values (1), (2);")
    assert shown(build(folder, tmp_path / "one", child=True)) == shown(build(folder, tmp_path / "two", child=True))


def test_the_second_build_reads_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.csv").write_text("a\n1\n")
    first = build(folder, tmp_path / "store", child=True)

    async def never(self: Worker, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        raise AssertionError("a file was read again")

    monkeypatch.setattr(Worker, "ask", never)
    moved = folder.rename(tmp_path / "moved")
    assert build(moved, tmp_path / "store", child=True).catalogue == first.catalogue


def test_sources_are_left_as_they_are(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a\n1\n")
    (folder / "gbk.csv").write_bytes("姓名\n张三\n".encode("gbk"))
    (folder / "b.json").write_text("[1, 2")
    database(folder / "c.db", "create table c (a); insert into c values (1);")
    wal = sqlite3.connect(folder / "wal.db")
    wal.execute("pragma journal_mode = wal")
    wal.execute("create table w (a)")
    wal.execute("insert into w values (1)")
    wal.commit()
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert {"wal.db-wal", "wal.db-shm"} <= set(before)
    built = build(folder, tmp_path / "store", child=True)
    assert built.rows("w") == [[1]]
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
    wal.close()


def test_a_folder_without_tables(folder: Path, tmp_path: Path) -> None:
    (folder / "readme.md").write_text("text")
    built = build(folder, tmp_path / "store", child=True)
    assert built.catalogue.tables == ()
    assert built.database.is_file()
    assert [document.lines for document in built.catalogue.documents] == [1]


def test_nothing_is_left_in_the_store_but_the_database(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("a\n1\n")
    build(folder, tmp_path / "store", child=True)
    left = [path.name for path in (tmp_path / "store" / "cache").rglob("*") if path.is_file()]
    assert left == [GATE]
    assert len(list((tmp_path / "store" / "artifacts").rglob("*.duckdb"))) == 1
