"""Live PostgreSQL and MariaDB databases as sources: every value as it is, equal contents equal, failures said and survived."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import PASSWORD, Server

from tasks.core.models.catalogue import Catalogue
from tasks.core.models.metadata import DatabaseNote
from tasks.core.models.source import Inventory, Snapshot
from tasks.core.settings import Settings
from tasks.core.sql.engine import Engine
from tasks.intake.catalogue import build_catalogue
from tasks.intake.loading.problems import kind_of
from tasks.intake.snapshot import snapshot_databases

pytestmark = pytest.mark.service
DatabaseOf = Callable[[str], Server]
BOTH = pytest.mark.parametrize("which", ["postgres", "mariadb"])


def take(settings: Settings, *notes: DatabaseNote, **limits: Any) -> tuple[Snapshot, ...]:
    return asyncio.run(snapshot_databases.function(notes, settings.databases.model_copy(update=limits)))


def note(server: Server, monkeypatch: pytest.MonkeyPatch, **more: Any) -> DatabaseNote:
    monkeypatch.setenv("SHOP_URL", server.url)
    return DatabaseNote(name="shop", url_env="SHOP_URL", line=1, **more)


def build(settings: Settings, snapshots: tuple[Snapshot, ...]) -> Catalogue:
    return asyncio.run(build_catalogue.function(Inventory(root="/", files=()), settings.intake, snapshots))


def rows(settings: Settings, catalogue: Catalogue, sql: str) -> list[tuple[Any, ...]]:
    async def run() -> list[tuple[Any, ...]]:
        async with Engine.over(catalogue, settings.query) as engine:
            return (await engine.measure([sql], 60))[0]

    return asyncio.run(run())


POSTGRES = (
    "create type mood as enum ('gut', '好')",
    """create table t (id int primary key, code text, amount numeric(12,2), free numeric, wide numeric(45,2), big bigint,
       f real, d double precision, day date, late date, at timestamp, zoned timestamptz, ok boolean, raw bytea, doc jsonb,
       tags text[], m mood, pad char(5), hours interval, "Odd ""name" varchar(9))""",
    """insert into t values (2, '007', 1234567890.10, 0.1, 12345678901234567890123456789012345678901.25, 9007199254740993,
       0.1, 0.30000000000000004, '2024-02-29', 'infinity', '2024-01-01 00:00:00.123456', '2024-01-01 00:30:00+02', true,
       '\\x00ff', '{"a": "茶"}', '{x,NULL}', '好', 'ab', '1 day 02:00', ''),
       (1, 'Ünï 茶 😀', -0.05, 123.4567, null, -9223372036854775808, null, 'NaN', '0001-01-01', '2024-01-01', null, null,
       false, null, null, null, null, null, null, null)""",
    "create schema sales",
    "create table sales.orders (n int)",
    "create view v as select code from t",
    "create table parts (n int) partition by list (n)",
    "create table parts_1 partition of parts for values in (1)",
    "insert into parts values (1)",
)
MARIADB = (
    """create table t (id int primary key, code varchar(20), amount decimal(12,2), wide decimal(45,2), big bigint,
       huge bigint unsigned, f float, d double, day date, late date, at datetime(6), zoned timestamp null, ok tinyint(1),
       raw varbinary(9), doc json, m enum('gut','好'), y year, hours time, bits bit(9), `Odd ``name` varchar(9))
       character set utf8mb4""",
    "set time_zone = '+02:00'",
    "set sql_mode = ''",
    """insert into t values (2, '007', 1234567890.10, 1234567890123456789012345678901234567890123.25, 9007199254740993,
       18446744073709551615, 0.1, 0.30000000000000004, '2024-02-29', '0000-00-00', '2024-01-01 00:00:00.123456',
       '2024-01-01 00:30:00', 1, x'00ff', '{"a": "茶"}', '好', 2024, '-01:02:03', b'100000001', ''),
       (1, 'Ünï 茶 😀', -0.05, null, -9223372036854775808, 0, null, null, '0001-01-01', '2024-01-01', null, null, 0, null,
       null, null, null, null, null, null)""",
    "create view v as select code from t",
)


def test_every_kind_of_value_of_postgres_arrives_as_it_is(
    database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of("postgres")
    server.run(*POSTGRES)
    (snapshot,) = take(settings, note(server, monkeypatch))
    assert [(table.name, table.rows, table.note) for table in snapshot.tables] == [
        ("parts", 1, ""), ("t", 2, ""), ("v", 2, "a view"), ("sales.orders", 0, ""),
    ]  # fmt: skip
    catalogue = build(settings, (snapshot,))
    assert [table.name for table in catalogue.tables] == ["parts", "t", "v", "orders"]
    table = catalogue.table("t")
    assert table and table.origin == f"postgresql://127.0.0.1:{server.port}/{server.database}::t"
    assert {column.name: column.type for column in table.columns} == {
        "id": "BIGINT", "code": "VARCHAR", "amount": "DECIMAL(12,2)", "free": "DECIMAL(7,4)", "wide": "VARCHAR", "big": "BIGINT",
        "f": "DOUBLE", "d": "DOUBLE", "day": "DATE", "late": "VARCHAR", "at": "TIMESTAMP", "zoned": "TIMESTAMP", "ok": "BOOLEAN",
        "raw": "BLOB", "doc": "VARCHAR", "tags": "VARCHAR", "m": "VARCHAR", "pad": "VARCHAR", "hours": "VARCHAR",
        'Odd "name': "VARCHAR",
    }  # fmt: skip
    one, two = rows(settings, catalogue, "select columns(*)::varchar from t")
    assert one == (
        "1", "Ünï 茶 😀", "-0.05", "123.4567", None, "-9223372036854775808", None, None, "0001-01-01", "2024-01-01", None, None,
        "false", None, None, None, None, None, None, None,
    )  # fmt: skip
    assert two == (
        "2", "007", "1234567890.10", "0.1000", "12345678901234567890123456789012345678901.25", "9007199254740993", "0.1",
        "0.30000000000000004", "2024-02-29", "infinity", "2024-01-01 00:00:00.123456", "2023-12-31 22:30:00", "true",
        "\\x00\\xFF", '{"a": "茶"}', "{x,NULL}", "好", "ab", "1 day 02:00:00", "",
    )  # fmt: skip
    said = {column.name: column.notes for column in table.columns if column.notes}
    assert "NaN or Infinity read as NULL" in said["d"][0] and "infinite days" in " ".join(said["late"])
    assert all(kind_of(text).code != "T999" for notes in said.values() for text in notes), said


def test_every_kind_of_value_of_mariadb_arrives_as_it_is(
    database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of("mariadb")
    server.run(*MARIADB)
    (snapshot,) = take(settings, note(server, monkeypatch))
    assert [(table.name, table.rows, table.note) for table in snapshot.tables] == [("t", 2, ""), ("v", 2, "a view")]
    catalogue = build(settings, (snapshot,))
    table = catalogue.table("t")
    assert table and table.origin == f"mysql://127.0.0.1:{server.port}/{server.database}::t"
    assert {column.name: column.type for column in table.columns} == {
        "id": "BIGINT", "code": "VARCHAR", "amount": "DECIMAL(12,2)", "wide": "VARCHAR", "big": "BIGINT", "huge": "HUGEINT",
        "f": "DOUBLE", "d": "DOUBLE", "day": "DATE", "late": "VARCHAR", "at": "TIMESTAMP", "zoned": "TIMESTAMP", "ok": "BIGINT",
        "raw": "BLOB", "doc": "VARCHAR", "m": "VARCHAR", "y": "BIGINT", "hours": "VARCHAR", "bits": "HUGEINT",
        "Odd `name": "VARCHAR",
    }  # fmt: skip
    one, two = rows(settings, catalogue, "select columns(*)::varchar from t")
    assert one == (
        "1", "Ünï 茶 😀", "-0.05", None, "-9223372036854775808", "0", None, None, "0001-01-01", "2024-01-01", None, None, "0",
        None, None, None, None, None, None, None,
    )  # fmt: skip
    assert two == (
        "2", "007", "1234567890.10", "1234567890123456789012345678901234567890123.25", "9007199254740993",
        "18446744073709551615", "0.1", "0.30000000000000004", "2024-02-29", "0000-00-00", "2024-01-01 00:00:00.123456",
        "2023-12-31 22:30:00", "1", "\\x00\\xFF", '{"a": "茶"}', "好", "2024", "-01:02:03", "257", "",
    )  # fmt: skip
    said = {column.name: column.notes for column in table.columns if column.notes}
    assert "0000-00-00" in " ".join(said["late"])
    assert all(kind_of(text).code != "T999" for notes in said.values() for text in notes), said


@BOTH
def test_equal_contents_are_equal_values_and_hit_the_cache(
    which: str, database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of(which)
    server.run("create table t (id int primary key, name varchar(9))", "insert into t values (2, 'b'), (1, 'a')")
    first, second = take(settings, note(server, monkeypatch)), take(settings, note(server, monkeypatch))
    record = build_catalogue.record(Inventory(root="/", files=()), settings.intake, first)
    assert record == build_catalogue.record(Inventory(root="/", files=()), settings.intake, second)
    assert first[0].tables == second[0].tables and first[0].taken_at < second[0].taken_at
    server.run("update t set name = 'c' where id = 1")
    third = take(settings, note(server, monkeypatch))
    assert record != build_catalogue.record(Inventory(root="/", files=()), settings.intake, third)
    assert rows(settings, build(settings, third), "from t") == [(1, "c"), (2, "b")]
    file = build(settings, third).files[0]
    assert (file.kind, file.outcome, file.reason) == ("database", "table", "") and len(file.sha256) == 64
    assert file.taken_at == third[0].taken_at and file.taken_at.endswith("Z")


@BOTH
def test_all_tables_are_of_one_moment_and_nothing_is_written(
    which: str, database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks.core.sql.address import parse
    from tasks.intake.snapshotting.mysql import MySQL
    from tasks.intake.snapshotting.postgres import Postgres

    server = database_of(which)
    server.run("create table a (n int)", "create table b (n int)", "insert into a values (1)")
    source: Any = (Postgres if which == "postgres" else MySQL)(parse(server.url), 30)
    tables = {name: sql for name, sql, _ in source.tables()}
    server.run("insert into b values (1)", "insert into a values (2)")
    for name, expected in (("a", 1), ("b", 0)):
        fields = source.fields(tables[name])
        assert sum(len(batch) for batch in source.rows(tables[name], fields)) == expected
    with pytest.raises(source.errors, match=r"(?i)read.?only"), source.one():
        source._run(f"insert into {tables['a']} values (3)")
    assert len(server.run("select * from a")) == 2


@BOTH
def test_tables_and_rows_have_limits_that_are_said(
    which: str, database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of(which)
    for name in ("a", "b", "c"):
        server.run(f"create table {name} (n int)", f"insert into {name} values (1), (2), (3)")
    server.run("insert into b select n from a")
    (some,) = take(settings, note(server, monkeypatch), max_rows=3)
    assert [table.name for table in some.tables] == ["a", "c"] and "table b: more than 3 rows" in some.unread[0]
    file = build(settings, (some,)).files[0]
    assert file.outcome == "table" and [kind_of(part).code for part in file.reason.split("; ")] == ["T131"]
    (named,) = take(settings, note(server, monkeypatch, tables=("C", "d")))
    assert [table.name for table in named.tables] == ["c"] and "table d: there is none" in named.unread[0]
    (few,) = take(settings, note(server, monkeypatch), max_tables=1)
    assert len(few.tables) == 1 and few.unread[0].startswith("2 of 3 tables")
    (late,) = take(settings, note(server, monkeypatch), seconds=0.01)
    assert not late.tables and "databases.seconds" in late.error


@BOTH
def test_a_database_that_cannot_be_read_costs_only_itself_and_tells_no_password(
    which: str, database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of(which)
    server.run("create table t (n int)")
    wrong = "wrong-" + "password"
    url = server.url
    encoded = url.split("@")[0].rpartition(":")[2]
    for variable, value, part in (
        ("WRONG_PASSWORD", url.replace(encoded, wrong), "check user and password"),
        ("NO_DATABASE", url + "_none", "check the database's name"),
        ("DOWN", url.replace(f":{server.port}/", ":9/"), "see whether the server runs"),
        ("UNSET", "", "environment variable UNSET is not set"),
        ("NO_URL", f"sqlite://me:{wrong}@h/d", "no URL of PostgreSQL"),
        ("ODD_URL", f"postgresql://me:{wrong}?x@h/d", "environment variable ODD_URL"),
    ):
        monkeypatch.setenv(variable, value)
        snapshots = take(settings, DatabaseNote(name="x", url_env=variable, line=1), note(server, monkeypatch))
        failed, good = snapshots
        assert part in failed.error and not failed.tables, (variable, failed.error)
        assert [table.name for table in good.tables] == ["t"] and not good.error
        catalogue = build(settings, snapshots)
        assert [file.outcome for file in catalogue.files] == ["unreadable", "table"]
        assert kind_of(catalogue.files[0].reason).code == "T131"
        shown = json.dumps([s.model_dump() for s in snapshots]) + catalogue.model_dump_json()
        assert wrong not in shown and PASSWORD not in shown and encoded not in shown


def test_a_url_in_the_file_names_this_machine_only(settings: Settings, store: Any) -> None:
    (found,) = take(settings, DatabaseNote(name="x", url="postgresql://me@db.example.com/d", line=1))
    assert "may not send a run to the host 'db.example.com'" in found.error and "url_env" in found.error


def test_a_url_without_password_reads_a_database_that_asks_none(
    database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of("mariadb")
    server.run(
        "create table t (n int)",
        "create user if not exists guest@'%'",
        f"grant select on {server.database}.* to guest@'%'",
    )
    monkeypatch.setenv("MYSQL_PWD", "not ours to send")
    url = f"mysql://guest@127.0.0.1:{server.port}/{server.database}"
    (found,) = take(settings, DatabaseNote(name="x", url=url, line=1))
    assert [table.name for table in found.tables] == ["t"], found.error


def test_no_record_or_artifact_of_the_store_holds_the_password(
    database_of: DatabaseOf, settings: Settings, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database_of("postgres")
    server.run("create table t (n int)")
    asyncio.run(_through_stages(settings, note(server, monkeypatch)))
    encoded = server.url.split("@")[0].rpartition(":")[2]
    for path in Path(settings.store.folder).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert PASSWORD.encode() not in data and encoded.encode() not in data, path


async def _through_stages(settings: Settings, database: DatabaseNote) -> None:
    snapshots = await snapshot_databases((database,), settings.databases)
    await build_catalogue(Inventory(root="/", files=()), settings.intake, snapshots)
