"""Columns of small tables under each other: every value with its column, and statements of bounded size."""

from __future__ import annotations

import duckdb

from tasks.core.sql.stacked import stack, stacks


def test_every_value_comes_with_the_place_of_its_column() -> None:
    with duckdb.connect() as db:
        db.execute('CREATE TABLE "a b" AS SELECT i AS k, i * 10 AS "v""w", NULL::BIGINT AS 空 FROM range(2) r(i)')
        db.execute("CREATE TABLE c AS SELECT 7::BIGINT AS k")
        db.execute("CREATE TABLE none (k BIGINT)")
        columns = [("a b", "k"), ("a b", "空"), ("none", "k"), ("c", "k"), ("a b", 'v"w')]
        rows = db.execute(f"SELECT k, v FROM ({stack(columns)}) ORDER BY ALL").fetchall()
    assert rows == [(0, 0), (0, 1), (1, None), (1, None), (3, 7), (4, 0), (4, 10)]


def test_a_statement_takes_columns_of_one_kind_and_not_too_many() -> None:
    items = [(at, "ab"[at % 2]) for at in range(1000)]
    found = [*stacks(items, lambda item: item[1], lambda item: 0)]
    assert sorted(item for group in found for item in group) == items
    assert max(map(len, found)) == 320 and all(len({kind for _, kind in group}) == 1 for group in found)
    assert [len(group) for group in stacks(items[:6], lambda _: "", lambda _: 150_000)] == [1] * 6
    assert [*stacks([], lambda _: "", lambda _: 0)] == []
