"""Databases as they are met: WAL, hot journals, damage, endless views, many columns, invalid UTF-8."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import tempfile
from pathlib import Path
from typing import Any

import pytest
from intake_cases import build, notes

from tasks.intake.loading import sqlitefile


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def make(path: Path, *statements: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    return connection


def test_rows_that_are_only_in_the_wal_are_read(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "live.db"
    connection = make(source, "pragma journal_mode = wal", "create table t (a)", "insert into t values (1), (2)")
    for name in ("live.db", "live.db-wal"):
        shutil.copy(tmp_path / name, folder / name)
    connection.close()
    folder.chmod(0o555)
    built = build(folder, tmp_path / "store")
    folder.chmod(0o755)
    assert built.rows("t") == [[1], [2]]
    assert sorted(path.name for path in folder.iterdir()) == ["live.db", "live.db-wal"]


def test_a_wal_database_without_its_wal_says_what_may_be_missing(folder: Path, tmp_path: Path) -> None:
    make(folder / "a.db", "pragma journal_mode = wal", "create table t (a)", "insert into t values (1)").close()
    built = build(folder, tmp_path / "store")
    assert built.rows("t") == [[1]]
    assert "without its -wal file" in notes(built.tables("a.db")[0])


def test_a_hot_journal_is_rolled_back_in_a_copy(folder: Path, tmp_path: Path) -> None:
    """A writer died in the middle of a transaction: the database holds pages that were never committed."""
    source = tmp_path / "live.db"
    rows = [(i, "x" * 200) for i in range(500)]
    connection = make(source, "create table t (a, b)")
    connection.executemany("insert into t values (?, ?)", rows)
    connection.commit()
    connection.execute("pragma cache_size = 1")
    connection.execute("update t set b = 'uncommitted'")
    for name in ("live.db", "live.db-journal"):
        shutil.copy(tmp_path / name, folder / name)
    connection.rollback()
    connection.close()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert b"uncommitted" in before["live.db"]
    built = build(folder, tmp_path / "store")
    assert [tuple(row) for row in built.rows("t")] == rows
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_endless_view_costs_itself(folder: Path, tmp_path: Path) -> None:
    make(
        folder / "a.db",
        "create table t (a)",
        "insert into t values (1)",
        "create view endless as with recursive n(i) as (select 1 union all select i + 1 from n) select * from n",
        "create view good as select a + 1 as b from t",
    ).close()
    built = build(folder, tmp_path / "store", file_seconds=5)
    assert [table.name for table in built.catalogue.tables] == ["t", "good"]
    assert built.rows("good") == [[2]]
    assert built.file("a.db").outcome == "table"
    assert built.file("a.db").reason == "view 'endless': not finished after 0.5 s"


def test_a_view_cannot_reach_outside(folder: Path, tmp_path: Path) -> None:
    connection = make(folder / "a.db", "create table t (a)")
    connection.execute("create view v as select load_extension('/tmp/x.so') as x")
    connection.commit()
    connection.close()
    built = build(folder, tmp_path / "store")
    assert [table.name for table in built.catalogue.tables] == ["t"]
    assert "view 'v'" in built.file("a.db").reason


@pytest.mark.parametrize("damage", ["page", "cut", "freelist"])
def test_a_damaged_database_is_not_read_in_part(folder: Path, tmp_path: Path, damage: str) -> None:
    path = folder / "a.db"
    connection = make(path, "create table t (a, b)")
    connection.executemany("insert into t values (?, ?)", [(i, "x" * 300) for i in range(400)])
    connection.commit()
    connection.close()
    data = bytearray(path.read_bytes())
    if damage == "page":
        data[4096 * 5 : 4096 * 5 + 100] = b"\xff" * 100
    elif damage == "cut":
        del data[len(data) // 2 :]
    else:
        data[32:40] = struct.pack(">II", 9999, 7)
    path.write_bytes(data)
    built = build(folder, tmp_path / "store")
    assert built.catalogue.tables == ()
    assert built.file("a.db").outcome == "unreadable"
    assert "database" in built.file("a.db").reason


def test_invalid_utf8_in_a_text_is_replaced_and_said(folder: Path, tmp_path: Path) -> None:
    make(folder / "a.db", "create table t (a text)", "insert into t values (cast(x'61ff62' as text)), ('ok')").close()
    built = build(folder, tmp_path / "store")
    assert built.rows("t") == [["a\ufffdb"], ["ok"]]
    assert "1 texts are not valid UTF-8" in notes(built.tables("a.db")[0])


def test_many_columns_and_a_text_in_the_last_row(folder: Path, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(300)]
    connection = make(folder / "a.db", f"create table wide ({', '.join(f'{name} integer' for name in names)})")
    slots = ", ".join("?" for _ in names)
    connection.executemany(f"insert into wide values ({slots})", [range(300)] * 60)
    connection.execute(f"insert into wide values ({slots})", [*range(299), "late"])
    connection.commit()
    connection.close()
    built = build(folder, tmp_path / "store")
    (table,) = built.tables("a.db")
    assert {column.type for column in table.columns[:299]} == {"BIGINT"}
    assert table.columns[299].type == "VARCHAR"
    assert [row[299] for row in built.rows("wide")] == ["299"] * 60 + ["late"]


def test_full_text_tables_do_not_spoil_the_others(folder: Path, tmp_path: Path) -> None:
    connection = make(folder / "a.db", "create table t (a)", "insert into t values (1)")
    try:
        connection.execute("create virtual table docs using fts5(body)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no FTS5")
    connection.execute("insert into docs values ('hello')")
    connection.commit()
    connection.close()
    built = build(folder, tmp_path / "store")
    names = [table.name for table in built.catalogue.tables]
    assert names[0] == "t" and not [name for name in names if name.startswith("docs_")]
    assert "docs" in names or "docs" in built.file("a.db").reason


def test_values_keep_their_digits(folder: Path, tmp_path: Path) -> None:
    """Every integer and every real of a mixed column, as SQLite itself would read the text back."""
    values: list[Any] = [2**63 - 1, -(2**63), 0.1, 1 / 3, 1e-300, 123456789.123456789, 5e-324, 2.5, "t"]
    connection = make(folder / "a.db", "create table t (v)")
    connection.executemany("insert into t values (?)", [(value,) for value in values])
    connection.commit()
    connection.close()
    built = build(folder, tmp_path / "store")
    read = [row[0] for row in built.rows("t")]
    assert [type(value)(text) for value, text in zip(values, read, strict=True)] == values


@pytest.mark.slow
def test_many_rows_in_bounded_memory(folder: Path, tmp_path: Path) -> None:
    connection = make(folder / "a.db", "create table t (i integer, f real, s text)")
    connection.executemany("insert into t values (?, ?, ?)", ((i, i / 4, f"n{i}") for i in range(200_000)))
    connection.commit()
    connection.close()
    built = build(folder, tmp_path / "store", child=True, memory_mb=1500)
    (table,) = built.tables("a.db")
    assert table.rows == 200_000
    rows = built.rows("t")
    assert rows[0] == [0, 0.0, "n0"] and rows[-1] == [199_999, 199_999 / 4, "n199999"]


@pytest.mark.parametrize("user", ["as this user", "as nobody"])
def test_a_wal_database_in_a_read_only_folder(user: str, tmp_path: Path) -> None:
    """Its last rows are only in the WAL; nothing may be written beside it, and an unprivileged user could not."""
    if user == "as nobody" and os.geteuid():
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(prefix="tablewright-wal-") as place:
        folder, store = Path(place) / "folder", Path(place) / "store"
        folder.mkdir()
        store.mkdir()
        with contextlib.closing(sqlite3.connect(tmp_path / "w.db")) as writer:
            writer.executescript(
                "pragma journal_mode=wal; create table t (a); insert into t values (1); pragma wal_checkpoint"
            )
            writer.execute("insert into t values (2)")
            writer.commit()
            for side in ("", "-wal"):
                shutil.copyfile(tmp_path / f"w.db{side}", folder / f"w.db{side}")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        build(folder, tmp_path / "first")  # whatever is imported late is imported now
        folder.chmod(0o555)
        Path(place).chmod(0o755)
        os.chown(store, 65534 if not os.geteuid() else -1, -1)
        if user == "as nobody":
            os.seteuid(65534)
        try:
            rows = build(folder, store).rows("t")
        finally:
            if user == "as nobody":
                os.seteuid(0)
            folder.chmod(0o755)
        assert rows == [[1], [2]]
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("rows", [5, 1200])
def test_few_and_many_values_of_a_column_are_the_same(folder: Path, tmp_path: Path, rows: int) -> None:
    whole = (0, 2**63 - 1, -(2**63), None, 1)
    real = (0.1, -0.25, 1.7976931348623157e308, 5e-324, None)
    with contextlib.closing(make(folder / "s.db", "create table t (n integer, i, f real, s text, b blob)")) as db:
        for number in range(rows):
            values = (number, whole[number % 5], real[number % 5], "0.10" if number % 2 else "茶", b"\x00\xff")
            db.execute("insert into t values (?, ?, ?, ?, ?)", values)
        db.commit()
    found = build(folder, tmp_path / "store").rows("t")
    assert len(found) == rows
    for number, i, f, s, b in found:
        at = number % 5
        assert i == ("<null>" if whole[at] is None else whole[at])
        assert repr(f) == ("'<null>'" if real[at] is None else repr(real[at]))
        assert (s, b) == ("0.10" if number % 2 else "茶", "b:00ff")


def test_tables_that_the_time_did_not_reach_are_told_and_the_others_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(10_000))
    monkeypatch.setattr(sqlitefile.time, "monotonic", lambda: float(next(clock)))
    made = [statement for n in range(9) for statement in (f"create table 表{n} (a)", f"insert into 表{n} values ({n})")]
    make(folder / "a.db", *made, "create view v as select 1 as b").close()
    built = build(folder, tmp_path / "store", file_seconds=5)
    read = [table.name for table in built.tables("a.db")]
    assert read == [f"表{n}" for n in range(len(read))] and 0 < len(read) < 7
    assert built.rows("表0") == [[0]] and built.file("a.db").outcome == "table"
    left = ", ".join(repr(f"表{n}") for n in range(len(read), len(read) + 3))
    assert (
        built.file("a.db").reason == f"not read in time: {10 - len(read)} of 10 tables and views were left ({left} …)"
    )
    assert built.catalogue.unsettled == "stopped"


def test_one_table_that_takes_too_long_leaves_the_small_ones(folder: Path, tmp_path: Path) -> None:
    many = "with recursive n(i) as (select 1 union all select i + 1 from n limit 2000000) select i, i * 2, i * 3 from n"
    make(folder / "a.db", "create table small as select 7 as a", f"create table large as {many}").close()
    built = build(folder, tmp_path / "store", file_seconds=0.4)
    assert built.rows("small") == [[7]]
    assert built.file("a.db").reason == "not read in time: 1 of 2 tables and views were left ('large')"
