"""Values that programs leave, and what becomes of them."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tasks.core.sandbox.inside.values import to_json


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


Point = collections.namedtuple("Point", "x y")
FRAME = pd.DataFrame({"城市": ["北京", "上海", "北京"], "n": [1, 2, 3]})


def table(columns: list[str], *data: list[Any]) -> dict[str, Any]:
    return {"columns": columns, "data": list(data)}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (10**30, 10**30),
        (1.5, 1.5),
        (float("nan"), None),
        ("中文", "中文"),
        (b"text", "text"),
        ((1, "a"), [1, "a"]),
        ({3, 10, 2}, [2, 3, 10]),
        ({"b", 1}, [1, "b"]),
        ({2: 3, None: 4}, {"2": 3, "None": 4}),
        ({datetime.date(2024, 1, 2): 1}, {"2024-01-02": 1}),
        (range(3), [0, 1, 2]),
        (zip([1], [2], strict=True), [[1, 2]]),
        ({"k": 1}.items(), [["k", 1]]),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.deque([1]), [1]),
        (Point(1, 2), [1, 2]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (decimal.Decimal("1.10"), 1.1),
        (decimal.Decimal("3.00"), 3),
        (decimal.Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (decimal.Decimal("NaN"), None),
        (fractions.Fraction(1, 3), "1/3"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 10), "2024-02-29 10:00:00"),
        (datetime.time(10, 30), "10:30:00"),
        (datetime.timedelta(days=1), "1 day, 0:00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.longdouble(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.float64("nan"), None),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(5), 5),
        (np.array([1.5, np.nan]), [1.5, None]),
        (np.datetime64("2024-01-01"), "2024-01-01"),
        (np.datetime64("2024-01-01T10:00:00.000000000"), "2024-01-01 10:00:00"),
        (np.datetime64("NaT"), None),
        (np.array(["2024-01-01T10:00", "NaT"], dtype="datetime64[ns]"), ["2024-01-01 10:00:00", None]),
        (pd.NA, None),
        (pd.NaT, None),
        (pd.Timestamp("2024-01-01 10:00"), "2024-01-01 10:00:00"),
        (pd.Period("2024-01"), "2024-01"),
        (pd.Index(["a", "b"]), ["a", "b"]),
        (pd.array([1, None], dtype="Int64"), [1, None]),
        ({"a": [np.int8(1), {"b": pd.NA}]}, {"a": [1, {"b": None}]}),
        ({"t": pd.DataFrame({"a": [1]})}, {"t": table(["a"], [1])}),
    ],
)
def test_value_becomes_json(value: Any, expected: Any) -> None:
    found = to_json(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (FRAME, table(["城市", "n"], ["北京", 1], ["上海", 2], ["北京", 3])),
        (FRAME.iloc[:0], table(["城市", "n"])),
        (FRAME[FRAME.n > 1], table(["城市", "n"], ["上海", 2], ["北京", 3])),
        (FRAME.groupby("城市").n.sum(), table(["城市", "n"], ["上海", 2], ["北京", 4])),
        (FRAME.n, table(["n"], [1], [2], [3])),
        (pd.Series([1, 2]), table(["value"], [1], [2])),
        (pd.Series({"a": 1}), table(["index", "value"], ["a", 1])),
        (FRAME.set_index("城市", drop=False), table(["城市", "n"], ["北京", 1], ["上海", 2], ["北京", 3])),
        (FRAME.groupby("城市").agg({"n": ["sum"]}), table(["城市", "n_sum"], ["上海", 2], ["北京", 4])),
        (FRAME.groupby(["城市", "n"]).size(), table(["城市", "n", "value"], ["上海", 2, 1], ["北京", 1, 1], ["北京", 3, 1])),
        (pd.DataFrame({"d": pd.to_datetime(["2024-01-01", None])}), table(["d"], ["2024-01-01"], [None])),
        (pd.DataFrame({"d": pd.to_datetime(["2024-01-01 01:00", "2024-01-02 00:00"])}), table(["d"], ["2024-01-01 01:00:00"], ["2024-01-02 00:00:00"])),
        (pd.DataFrame({"c": pd.Categorical(["x"]), "f": [np.nan]}), table(["c", "f"], ["x", None])),
        (pd.DataFrame([[1]], columns=[2024]), table(["2024"], [1])),
        (pa.table({"a": [1, None]}), table(["a"], [1], [None])),
        (duckdb.sql("select 1 a, date '2024-01-01' d, 2.50::decimal(9,2) x, [1] l"), table(["a", "d", "x", "l"], [1, "2024-01-01", 2.5, [1]])),
    ],
)  # fmt: skip
def test_table_keeps_columns_and_meaningful_index(value: Any, expected: Any) -> None:
    assert to_json(value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("inf"), "result is infinite"),
        ([1, [2, float("-inf")]], r"result\[1\]\[1\] is infinite"),
        (decimal.Decimal("Infinity"), "infinite"),
        (np.array([np.inf]), r"result\[0\] is infinite"),
        (pd.DataFrame({"a": [np.inf]}), r"result\['a'\]\[0\] is infinite"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns 'a'"),
        ({1: 1, "1": 2}, "two keys '1'"),
        (object(), "is a object"),
        ({"f": print}, r"result\['f'\] is a builtin_function_or_method"),
        (1j, "is a complex"),
        (b"\xff", "can't decode"),
    ],
)
def test_what_would_lose_something_is_an_error(value: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        to_json(value)
