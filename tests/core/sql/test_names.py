"""Identifiers: quoting and clashes."""

import duckdb
import pytest

from tasks.core.sql.names import literal, quote, unique_names


@pytest.mark.parametrize("name", ["plain", "select", "有 空格", 'a"b', "a.b", "x; drop table y", "Größe", "'"])
def test_quoted_names_and_literals_survive_duckdb(name: str) -> None:
    connection = duckdb.connect()
    connection.execute(f"create table t ({quote(name)} varchar)")
    connection.execute(f"insert into t values ({literal(name)})")
    cursor = connection.execute(f"select {quote(name)} from t")
    assert cursor.description[0][0] == name
    assert cursor.fetchall() == [(name,)]


@pytest.mark.parametrize(
    ("names", "prefixes", "expected"),
    [
        (["a", "b"], [], ("a", "b")),
        (["Orders", "orders", "ORDERS"], [], ("Orders", "orders_2", "ORDERS_3")),
        (["t", "t"], ["north", "south"], ("t", "south_t")),
        (["t", "T", "t"], ["a", "b", "b"], ("t", "b_T", "b_t_2")),
        (["a", "a", "a_2"], [], ("a", "a_3", "a_2")),
        (["ÄRGER", "ärger"], [], ("ÄRGER", "ärger_2")),
        (["订单", "订单"], ["", "库"], ("订单", "库_订单")),
        (["", ""], [], ("unnamed", "unnamed_2")),
        (["a\0", "\ud800", "a\ufffd"], [], ("a\ufffd", "\ufffd", "a\ufffd_2")),
    ],
)
def test_clashes_are_renamed_in_a_fixed_way(names: list[str], prefixes: list[str], expected: tuple[str, ...]) -> None:
    assert unique_names(names, prefixes) == expected


def test_unique_names_can_stand_in_one_table() -> None:
    found = unique_names(["a", "A", "a_2", "É", "é", "ß", "SS", "ẞ", "", "unnamed"])
    duckdb.connect().execute(f"create table t ({', '.join(f'{quote(name)} int' for name in found)})")
