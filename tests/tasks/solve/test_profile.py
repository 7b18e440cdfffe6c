"""Catalogues with known contents → what the profile says of them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.core.files.store import Store
from tasks.core.models.catalogue import Catalogue, Column, ColumnProfile, JoinCandidate, Profile, Table
from tasks.core.models.semantics import Definition, Knowledge, Link
from tasks.core.sections import ProfilingSettings, QuerySettings
from tasks.core.sql.columns import Facts
from tasks.solve.measure import measure_tables
from tasks.solve.profile import profile_tables

PROFILING = ProfilingSettings(examples=3, join_columns=400, join_min_match=0.5, seconds=60)
LIMITS = QuerySettings(seconds=30, memory_mb=2048, preview_rows=5, max_rows=1000)


def catalogue(store: Store, folder: Path, statements: Sequence[str]) -> Catalogue:
    """A catalogue of what the statements create; each table is from `<name>.csv`."""
    path = folder / "catalogue.duckdb"
    with duckdb.connect(str(path)) as db:
        for statement in statements:
            db.execute(statement)
        columns: dict[str, list[Column]] = {}
        for table, name, type_ in db.execute(
            "select table_name, column_name, data_type from duckdb_columns() where not internal order by table_oid, column_index"
        ).fetchall():
            columns.setdefault(table, []).append(Column(name=name, type=type_))
        tables = []
        for name, found in columns.items():
            quoted = '"' + name.replace('"', '""') + '"'
            (rows,) = db.execute(f"select count(*) from {quoted}").fetchone() or (0,)
            tables.append(Table(name=name, path=f"csv/{name}.csv", columns=tuple(found), rows=rows))
    return Catalogue(database=store.put_file(path), tables=tuple(tables), files=())


def profile(found: Catalogue, knowledge: Knowledge | None = None, settings: ProfilingSettings = PROFILING) -> Profile:
    async def run() -> Profile:
        return await profile_tables.function(found, knowledge or Knowledge(), settings, LIMITS)

    return asyncio.run(run())


def test_what_was_measured_before_is_not_measured_again_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    statements = (
        "CREATE TABLE orders AS SELECT i AS id, 'C-' || (i % 7) AS customer, (i % 5) * 1.5 AS amount FROM range(40) t(i)",
        "CREATE TABLE customers AS SELECT 'C-' || i AS customer, '茶' AS kind FROM range(7) t(i)",
    )
    found = catalogue(store, tmp_path, statements)
    sources = found.model_copy(update={"tables": found.tables[:1]})
    known = asyncio.run(measure_tables.function(sources, PROFILING, LIMITS))
    assert [(table, name) for table, name, _ in known.columns] == [
        ("orders", "id"),
        ("orders", "customer"),
        ("orders", "amount"),
    ]
    whole = profile(found)
    assert joins(whole) and whole == asyncio.run(profile_tables.function(found, Knowledge(), PROFILING, LIMITS, known))
    false = known.model_copy(update={"columns": (("orders", "id", Facts(filled=9, distinct=9)), *known.columns[1:])})
    read = asyncio.run(profile_tables.function(found, Knowledge(), PROFILING, LIMITS, false))
    assert column(read, "orders", "id").distinct == 9, "facts that are known are taken as they are"


def column(found: Profile, table: str, name: str) -> ColumnProfile:
    owner = found.table(table)
    assert owner
    return next(each for each in owner.columns if each.name == name)


def joins(found: Profile) -> dict[str, JoinCandidate]:
    return {f"{j.left_table}.{j.left_column} -> {j.right_table}.{j.right_column}": j for j in found.joins}


def test_columns_are_counted_over_all_rows(store: Store, tmp_path: Path) -> None:
    found = profile(
        catalogue(
            store,
            tmp_path,
            [
                "create table t (id bigint, city varchar, amount double, day date, price decimal(10,2))",
                "insert into t values (3, 'b', 1.5, '2024-01-02', 9.90), (1, 'a', null, '2023-12-31', 10), "
                "(2, 'b', 2.5, null, 9.90), (4, null, 2.5, null, null), (5, 'c', -1, null, null), (6, '', 0, null, null)",
            ],
        )
    )
    (table,) = found.tables
    assert (table.name, table.origin, table.rows) == ("t", "csv/t.csv", 6)
    facts = {
        c.name: (c.type, round(c.null_share, 4), c.distinct, c.minimum, c.maximum, c.examples, c.is_key)
        for c in table.columns
    }
    assert facts == {
        "id": ("BIGINT", 0.0, 6, "1", "6", ("1", "2", "3"), True),
        "city": ("VARCHAR", 0.1667, 4, "", "c", ("b", "", "a"), False),
        "amount": ("DOUBLE", 0.1667, 4, "-1.0", "2.5", ("2.5", "-1.0", "0.0"), False),
        "day": ("DATE", 0.6667, 2, "2023-12-31", "2024-01-02", ("2023-12-31", "2024-01-02"), False),
        "price": ("DECIMAL(10,2)", 0.5, 2, "9.90", "10.00", ("9.90", "10.00"), False),
    }
    assert found.notes == ()


def test_empty_tables_and_empty_columns_are_measured(store: Store, tmp_path: Path) -> None:
    found = profile(
        catalogue(
            store,
            tmp_path,
            [
                "create table empty (id int, name varchar)",
                "create table hollow as select null::int as id, 1 as one from range(4)",
            ],
        )
    )
    nothing = column(found, "empty", "id")
    assert (nothing.null_share, nothing.distinct, nothing.minimum, nothing.examples) == (0.0, 0, None, ())
    assert not nothing.is_key
    hollow = column(found, "hollow", "id")
    assert (hollow.null_share, hollow.distinct, hollow.maximum, hollow.is_key) == (1.0, 0, None, False)
    assert column(found, "hollow", "one").distinct == 1
    assert found.joins == ()


def test_names_and_types_of_any_kind_are_measured(store: Store, tmp_path: Path) -> None:
    found = profile(
        catalogue(
            store,
            tmp_path,
            [
                'create table "select" ("from" int, "a ""b""" varchar, "order" varchar[], s struct(x int), b blob, '
                "m map(int, varchar), f boolean, i interval, n hugeint)",
                "insert into \"select\" values (1, 'x', ['p', 'q'], {'x': 1}, '\\x00'::blob, map {1: 'z'}, true, "
                "interval 2 month, 170141183460469231731687303715884105727)",
                'create table "城市 表" ("城市编号" varchar, 人口 bigint)',
                "insert into \"城市 表\" values ('北京', 10), ('上海', 12), ('北京', null)",
            ],
        )
    )
    assert column(found, "select", "from").examples == ("1",)
    assert column(found, "select", 'a "b"').is_key
    assert column(found, "select", "order").examples == ("[p, q]",)
    assert column(found, "select", "n").maximum == "170141183460469231731687303715884105727"
    assert all(not each.notes for each in found.tables[0].columns)
    assert column(found, "城市 表", "城市编号").examples == ("北京", "上海")
    assert column(found, "城市 表", "人口").distinct == 2


SHAPES: list[tuple[list[str], str, str]] = [
    (["2024-01-31", "2023-12-01", "1999-10-10"], "dddd-dd-dd", ""),
    (["2020年3月1日", "2021年12月11日"], "d年d月d日", ""),
    (["5%", "12.5%", "100%"], "d%", "%"),
    (["1,234", "12,345,678", "1,000.50"], "1,234", ""),
    (["$1,234.50", "$12,000"], "$1,234", "$"),
    (["3万元", "12.5万元"], "d万元", "万元"),
    (["AB0001", "CD2345"], "AAdddd", ""),
    (["(1,234)", "(2,000)"], "(1,234)", ""),
    (["x1", "yy22", "zzz 333"], "", ""),
    (["Ann", "Bob"], "", ""),
    (["000001", "600519"], "dddddd", ""),
    (["2024-01-31"] * 19 + ["unknown"], "dddd-dd-dd", ""),
    (["2024-01-31"] * 2 + ["unknown"], "", ""),
]


def test_texts_have_a_shape_and_perhaps_a_unit(store: Store, tmp_path: Path) -> None:
    statements = []
    for number, (values, _, _) in enumerate(SHAPES):
        rows = ", ".join(f"('{value}')" for value in values)
        statements.append(f"create table t{number:02} as select * from (values {rows}) as v(v)")
    found = profile(catalogue(store, tmp_path, statements))
    seen = [table.columns[0] for table in sorted(found.tables, key=lambda table: table.name)]
    assert [(each.shape, each.unit) for each in seen] == [(shape, unit) for _, shape, unit in SHAPES]


def test_meaning_and_unit_come_from_the_knowledge(store: Store, tmp_path: Path) -> None:
    made = catalogue(
        store, tmp_path, ["create table Orders (Amount double, Note varchar)", "create table other (amount int)"]
    )
    knowledge = Knowledge(
        definitions=(
            Definition(field="amount", meaning="any amount", unit="EUR", line=1),
            Definition(table="ORDERS", field="AMOUNT", meaning="paid", unit="CNY", line=2),
            Definition(table="orders.csv", field="note", meaning="remark", line=3),
            Definition(table="elsewhere", field="note", meaning="stray", line=4),
        )
    )
    found = profile(made, knowledge)
    paid, note, free = (
        column(found, "Orders", "Amount"),
        column(found, "Orders", "Note"),
        column(found, "other", "amount"),
    )
    assert (paid.meaning, paid.unit) == ("paid", "CNY")
    assert note.meaning == "remark"
    assert (free.meaning, free.unit) == ("any amount", "EUR")


SHOP = [
    "create table customers (id int, name varchar, city_code varchar)",
    "insert into customers values (1, 'Ann', 'NYC'), (2, 'Bob', 'LON'), (3, 'Cem', 'LON'), (4, 'Dai', null)",
    "create table orders (order_id int, customer_id int, seller int, amount double)",
    "insert into orders values (10, 1, 7, 1), (11, 1, 7, 2), (12, 2, 8, 1), (13, 9, 8, 1), (14, null, 9, 1)",
    "create table cities (code varchar, name varchar)",
    "insert into cities values ('NYC', 'New York'), ('LON', 'London'), ('PAR', 'Paris')",
    "create table staff (staff_id int, name varchar, manager_id int)",
    "insert into staff values (7, 'Eva', null), (8, 'Fay', 7), (9, 'Gil', 7)",
    "create table visits (visitor varchar, home_city_code varchar)",
    "insert into visits values ('Ann', 'PAR'), ('Bob', 'NYC'), ('Bob', 'XXX'), ('Zoe', 'NYC')",
]


def test_joins_are_found_by_name_and_value_and_measured(store: Store, tmp_path: Path) -> None:
    found = profile(catalogue(store, tmp_path, SHOP))
    measured = {
        pair: (round(j.match_rate, 4), j.left_unique, j.right_unique, j.stated) for pair, j in joins(found).items()
    }
    assert measured == {
        "customers.city_code -> cities.code": (1.0, False, True, False),
        "staff.manager_id -> staff.staff_id": (1.0, False, True, False),
        "orders.customer_id -> customers.id": (0.75, False, True, False),
        "visits.home_city_code -> cities.code": (0.75, False, True, False),
        "visits.visitor -> customers.name": (0.75, False, True, False),
    }
    rates = [j.match_rate for j in found.joins]
    assert rates == sorted(rates, reverse=True)


def test_stated_links_are_measured_whatever_they_give(store: Store, tmp_path: Path) -> None:
    links = (
        Link(table="Orders", column="SELLER", target_table="Staff", target_column="staff_id", line=3),
        Link(table="orders", column="amount", target_table="customers", target_column="name", line=4),
        Link(column="visitor", target_table="", target_column="name", line=5),
        Link(table="orders", column="nothing", target_table="staff", target_column="staff_id", line=6),
    )
    found = profile(catalogue(store, tmp_path, SHOP), Knowledge(links=links))
    stated = {pair: j.match_rate for pair, j in joins(found).items() if j.stated}
    assert stated == {
        "orders.seller -> staff.staff_id": 1.0,
        "visits.visitor -> customers.name": 0.75,
        "visits.visitor -> cities.name": 0.0,
        "visits.visitor -> staff.name": 0.0,
        "orders.amount -> customers.name": 0.0,
    }
    assert [j.stated for j in found.joins] == sorted((j.stated for j in found.joins), reverse=True)
    assert found.notes == ("line 6 of the knowledge links orders.nothing to staff.staff_id: there are no such columns",)


def test_chinese_names_join(store: Store, tmp_path: Path) -> None:
    found = profile(
        catalogue(
            store,
            tmp_path,
            [
                "create table 客户 (编号 varchar, 名称 varchar)",
                "insert into 客户 values ('甲1', '张'), ('乙2', '李'), ('丙3', '王')",
                "create table 订单 (订单号 int, 客户编号 varchar, 金额 double)",
                "insert into 订单 values (1, '甲1', 5), (2, '甲1', 6), (3, '丁4', 7), (4, '乙2', 7)",
            ],
        )
    )
    assert {pair: j.match_rate for pair, j in joins(found).items()} == {"订单.客户编号 -> 客户.编号": 0.75}


def test_row_numbers_and_common_words_are_no_joins(store: Store, tmp_path: Path) -> None:
    statements = []
    for number in range(6):
        statements += [
            f"create table t{number} as select i + 1 as id, i % 3 as status, i / 4.0 as score, 'n' || i % 5 as name, "
            f"i % 7 as age from range({20 + number}) r(i)"
        ]
    assert profile(catalogue(store, tmp_path, statements)).joins == ()


def test_codes_join_across_text_and_number(store: Store, tmp_path: Path) -> None:
    found = profile(
        catalogue(
            store,
            tmp_path,
            [
                "create table stocks as select * from (values ('600519', 'a'), ('600520', 'b'), ('000001', 'c')) t(stock_code, n)",
                "create table prices as select * from (values (600519, 1.5), (600519, 2.5), (1, 3.5), (600520, 3.5)) t(stock_code, p)",
            ],
        )
    )
    assert {pair: j.match_rate for pair, j in joins(found).items()} == {"prices.stock_code -> stocks.stock_code": 0.75}


def test_what_the_limits_cut_off_is_noted(store: Store, tmp_path: Path) -> None:
    made = catalogue(store, tmp_path, SHOP)
    fewer = profile(made, settings=PROFILING.model_copy(update={"join_columns": 4}))
    assert fewer.notes == ("joins were sought among 4 of 14 columns, keys first (profiling.join_columns)",)
    none = profile(made, settings=PROFILING.model_copy(update={"seconds": 0.001}))
    assert none.notes[0] == "14 of 14 columns were not measured; each says why"
    assert column(none, "orders", "amount").notes == ("not measured: no time was left to measure it",)
    assert column(none, "orders", "amount").null_share == 0.0
    assert none.joins == ()


def test_tables_with_the_same_key_are_held_against_the_largest(store: Store, tmp_path: Path) -> None:
    shards = [
        f"create table m{n:02} as select {n} * 100000 + i as order_no from range({100 + n}) r(i)" for n in range(12)
    ]
    found = profile(catalogue(store, tmp_path, shards))
    assert found.notes == ("'orderno' is a key of 12 tables: joins to the 8 largest were measured",)
    assert found.joins == ()


def test_notes_of_the_catalogue_are_kept(store: Store, tmp_path: Path) -> None:
    made = catalogue(store, tmp_path, ["create table t (a int)"])
    table = made.tables[0].model_copy(
        update={
            "set_aside": 5,
            "titles": 3,
            "notes": ("a note",),
            "columns": (Column(name="a", type="INTEGER", notes=("mixed",)),),
        }
    )
    found = profile(made.model_copy(update={"tables": (table,)}))
    assert found.tables[0].notes == ("a note", "2 rows of the source could not be parsed and are not in this table")
    assert found.tables[0].columns[0].notes == ("mixed",)


def test_profiles_are_the_same_each_time(store: Store, tmp_path: Path) -> None:
    made = catalogue(store, tmp_path, SHOP)
    assert profile(made) == profile(made)


@pytest.mark.slow
def test_many_columns_and_many_rows_take_seconds(store: Store, tmp_path: Path) -> None:
    """1,000,000 rows in one table, 600 columns in 30 others."""
    statements: list[Any] = [
        "create table big as select i as id, i * 7919 % 1000 as t0_id, 'c' || i % 50000 as code, i / 3.0 as v from range(1000000) r(i)"
    ]
    for number in range(30):
        fields = ", ".join(f"'v{k}-' || i % {k + 2} as f{k}" for k in range(19))
        statements.append(f"create table t{number} as select i as id, {fields} from range(1000) r(i)")
    found = profile(catalogue(store, tmp_path, statements))
    assert found.table("big").columns[0].distinct == 1_000_000  # type: ignore[union-attr]
    assert joins(found)["big.t0_id -> t0.id"].match_rate == 1.0
    assert column(found, "t29", "f18").distinct == 20
