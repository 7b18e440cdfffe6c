"""A small library as a DuckDB file with its profile: authors, books, copies in shops, names with signs, Chinese."""

from __future__ import annotations

from pathlib import Path

import duckdb

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, Profile, TableProfile

TABLES = {
    "author": "(id BIGINT, name VARCHAR, birth_year BIGINT, city VARCHAR)",
    "book": "(id BIGINT, title VARCHAR, author_id BIGINT, price DOUBLE, published VARCHAR, pages VARCHAR)",
    "copy": "(book_id BIGINT, shop_id BIGINT, stock BIGINT, counted DATE)",
    "shop": "(id BIGINT, name VARCHAR, has_cafe VARCHAR)",
    "order": '("Order No" VARCHAR, "Total (EUR)" DOUBLE)',
    "订单": "(编号 BIGINT, 店铺 VARCHAR, 金额 DOUBLE)",
}
ROWS = {
    "author": [(1, "Ada", 1950, "Lyon"), (2, "Bo", 1970, "Graz")],
    "book": [
        (10, "Rain", 1, 12.0, "2019-05-01", "100"),
        (11, "Snow", 1, 20.0, "2021-01-31", "200"),
        (12, "Hail", 2, 30.0, "2022-07-15", "300"),
    ],
    "copy": [
        (10, 5, 3, "2024-01-02"),
        (11, 5, 4, "2024-01-09"),
        (12, 6, 9, "2024-03-01"),
    ],
    "shop": [(5, "Nook", "Y"), (6, "Attic", "N")],
    "order": [("a", 20.25), ("b", 10.25)],
    "订单": [(1, "南店", 20.0), (2, "北店", 10.0)],
}
LINKS = (("book", "author_id", "author", "id"), ("copy", "book_id", "book", "id"), ("copy", "shop_id", "shop", "id"))


def build(path: Path) -> Profile:
    """Make the database and measure what repairs look at."""
    with duckdb.connect(str(path)) as db:
        for name, columns in TABLES.items():
            db.execute(f'CREATE TABLE "{name}" {columns}')
            db.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(ROWS[name][0]))})', ROWS[name])
        tables = tuple(_profile(db, name) for name in TABLES)
    joins = tuple(
        JoinCandidate(
            left_table=left,
            left_column=column,
            right_table=right,
            right_column=key,
            match_rate=1,
            left_unique=False,
            right_unique=True,
        )
        for left, column, right, key in LINKS
    )
    return Profile(tables=tables, joins=joins)


def _profile(db: duckdb.DuckDBPyConnection, table: str) -> TableProfile:
    columns = []
    for name, kind, *_ in db.execute(f'DESCRIBE "{table}"').fetchall():
        values = [str(row[0]) for row in db.execute(f'SELECT DISTINCT "{name}" FROM "{table}" ORDER BY 1').fetchall()]
        columns.append(
            ColumnProfile(name=name, type=kind, null_share=0, distinct=len(values), examples=tuple(values[:5]))
        )
    return TableProfile(name=table, origin=f"csv/{table}.csv", rows=len(ROWS[table]), columns=tuple(columns))
