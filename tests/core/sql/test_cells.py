"""Values of real DuckDB → cells, digests and CSV."""

from typing import Any

import duckdb
import pytest

from tasks.core.sql.cells import Digest, csv_lines, to_cells


def run(sql: str) -> tuple[list[tuple[Any, ...]], list[str]]:
    cursor = duckdb.connect().execute(sql)
    return cursor.fetchall(), [str(column[1]) for column in cursor.description]


def digest(sql: str) -> str:
    rows, types = run(sql)
    found = Digest(types)
    for row in rows:
        found.add([row])
    return found.hex()


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("170141183460469231731687303715884105727::hugeint", 170141183460469231731687303715884105727),
        ("9007199254740993", 9007199254740993),
        ("12.50::decimal(10,2)", 12.5),
        ("0.1::decimal(3,1)", 0.1),
        ("12345678901234567.89::decimal(20,2)", "12345678901234567.89"),
        ("9007199254740993::decimal(20,0)", 9007199254740993),
        ("12.00::decimal(10,2)", 12.0),
        ("0.1::float", 0.1),
        ("1e300::double", 1e300),
        ("'nan'::double", "NaN"),
        ("'-inf'::double", "-Infinity"),
        ("true", True),
        ("null", None),
        ("''", ""),
        ("date '2024-02-29'", "2024-02-29"),
        ("timestamp '2024-02-29 12:30:00'", "2024-02-29 12:30:00"),
        ("timestamp '2024-02-29 12:30:00.25'", "2024-02-29 12:30:00.250000"),
        ("time '01:02:03'", "01:02:03"),
        ("'\\x00\\xFF'::blob", "00ff"),
        ("uuid '00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"),
        ("[1, null, 3]", "[1, null, 3]"),
        ("{'城市': '上海', 'at': date '2024-01-01', 'part': [0.5::decimal(3,1)]}",
         '{"城市": "上海", "at": "2024-01-01", "part": [0.5]}'),
        ("map {1: 'x'}", '{"1": "x"}'),
        ("'a'::enum('a', 'b')", "a"),
        ("date '0044-01-01 (BC)'", "0044-01-01 (BC)"),
    ],
)  # fmt: skip
def test_cells_keep_what_the_value_says(value: str, cell: object) -> None:
    rows, types = run(f"select {value} as v")
    assert to_cells(rows, types) == [(cell,)]
    assert type(to_cells(rows, types)[0][0]) is type(cell)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("select 1", "select 1.0::double"),
        ("select 1 as a", "select 1::hugeint as b"),
        ("select 1.50::decimal(10,2)", "select 1.5::double"),
        ("select 0.1::double + 0.2::double", "select 0.3::double"),
        ("select 1/3", "select 0.33333333333::double"),
        ("select -0.0::double", "select 0"),
        ("select 0.99999999999::double", "select 1"),
        ("select 12345678901::bigint", "select 12345678901.0::double"),
        ("select 12345678901::bigint", "select 12345678901.000002::double"),
        ("select 1000000000000000000::bigint", "select 1e18::double"),
        ("select 0.1::float", "select 0.1::double"),
        ("select 2::double", "select 2::decimal(4,1)"),
        ("from (values (1, 'a'), (2, 'b'))", "from (values (2, 'b'), (1, 'a'))"),
        ("from (values (1), (1), (2))", "from (values (1), (2), (1))"),
        ("select date '2024-01-01'", "select '2024-01-01'"),
        ("select 'nan'::double", "select 'nan'::float"),
    ],
)
def test_equal_answers_have_equal_digests(one: str, other: str) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("select null", "select ''"),
        ("select 1", "select '1'"),
        ("select 1", "select true"),
        ("select 'n'", "select null"),
        ("select 1, 2", "select 2, 1"),
        ("select 1", "select 1, null"),
        ("from (values (1), (1))", "from (values (1))"),
        ("from (values (1), (1), (2))", "from (values (1), (2), (2))"),
        ("from (values (1), (4))", "from (values (2), (3))"),
        ("select 1 where false", "select 1, 2 where false"),
        ("select 9007199254740993::bigint", "select 9007199254740992::bigint"),
        ("select 1234567890123456789::bigint", "select 1234567890123456788::bigint"),
        ("select 12345678901.0::double", "select 12345678902.0::double"),
        ("select 0.3333333333::double", "select 0.3333333334::double"),
        ("select 'a', 'b'", "select 'a' || chr(31) || 't1:b', ''"),
        ("select 'a'", "select 'a '"),
        ("select date '2024-01-01'", "select timestamp '2024-01-01'"),
        ("select [1, 2]", "select [2, 1]"),
    ],
)
def test_different_answers_have_different_digests(one: str, other: str) -> None:
    assert digest(one) != digest(other)


def test_batches_do_not_change_a_digest() -> None:
    rows, types = run("select i, i / 7, 'x' || i, i % 2 = 0 from range(1000) t(i)")
    whole, parts = Digest(types), Digest(types)
    whole.add(rows)
    for start in range(0, 1000, 300):
        parts.add(rows[start : start + 300][::-1])
    assert whole.hex() == parts.hex()
    assert parts.rows == 1000


def test_csv_tells_null_from_empty_and_loses_no_row() -> None:
    assert csv_lines([("a,b", 'say "x"', "two\nlines"), (None, "", True), (1.0, 10**20, None)]) == (
        '"a,b","say ""x""","two\nlines"\n,"",true\n1.0,100000000000000000000,\n'
    )
    assert csv_lines([("v",), (None,), ("",)]) == 'v\n""\n""\n'
