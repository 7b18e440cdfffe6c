"""Parquet, Arrow and ORC files that pyarrow writes → tables with the expected types and values."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from intake_cases import NULL, Built, build, notes

DT = datetime.datetime
UTC = datetime.UTC


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def column(values: list[Any], kind: Any) -> pa.Table:
    return pa.table({"v": pa.array(values, kind)})


CASES: dict[str, tuple[Any, str, list[Any], str]] = {
    "small integers": (column([1, None], pa.int8()), "BIGINT", [1, NULL], ""),
    "64-bit integers": (column([9007199254740993, -(2**63)], pa.int64()), "BIGINT", [9007199254740993, -(2**63)], ""),
    "unsigned 64 bit": (column([2**64 - 1], pa.uint64()), "HUGEINT", [2**64 - 1], ""),
    "floats": (column([0.5, None], pa.float32()), "DOUBLE", [0.5, NULL], ""),
    "NaN": (column([1.5, float("nan")], pa.float64()), "DOUBLE", [1.5, NULL], "1 NaN read as NULL"),
    "decimals": (column([Decimal("1.10")], pa.decimal128(38, 2)), "DECIMAL(38,2)", ["1.10"], ""),
    "long decimals": (column([Decimal("9" * 40 + ".5")], pa.decimal256(50, 1)), "VARCHAR", ["9" * 40 + ".5"], "digits"),
    "booleans": (column([True, None], pa.bool_()), "BOOLEAN", [True, NULL], ""),
    "texts": (column(["007", "", None, "中"], pa.string()), "VARCHAR", ["007", "", NULL, "中"], ""),
    "large texts": (column(["x"], pa.large_string()), "VARCHAR", ["x"], ""),
    "categories": (pa.table({"v": pa.array(["a", "b", None]).dictionary_encode()}), "VARCHAR", ["a", "b", NULL], ""),
    "dates": (column([datetime.date(2020, 2, 29)], pa.date32()), "DATE", ["2020-02-29"], ""),
    "times": (column([datetime.time(1, 2, 3)], pa.time32("s")), "TIME", ["01:02:03"], ""),
    "times to the nanosecond": (column([1], pa.time64("ns")), "VARCHAR", ["00:00:00.000000001"], "nanosecond; text"),
    "infinity": (column([float("inf"), -1.5], pa.float64()), "DOUBLE", [float("inf"), -1.5], ""),
    "moments": (column([DT(2020, 1, 1, 8)], pa.timestamp("ms")), "TIMESTAMP", ["2020-01-01 08:00:00"], ""),
    "nanoseconds that are none": (
        column([DT(2020, 1, 1)], pa.timestamp("ns")),
        "TIMESTAMP",
        ["2020-01-01 00:00:00"],
        "",
    ),
    "instants": (
        column([DT(2020, 1, 1, tzinfo=UTC)], pa.timestamp("us", "Asia/Shanghai")),
        "TIMESTAMP",
        ["2020-01-01 00:00:00"],
        "kept in UTC; the file names the zone 'Asia/Shanghai'",
    ),
    "lists": (column([[1, 2], None], pa.list_(pa.int64())), "VARCHAR", ["[1, 2]", NULL], "as JSON text"),
    "structs": (
        column([{"a": "中", "b": 1.5}], pa.struct([("a", pa.string()), ("b", pa.float64())])),
        "VARCHAR",
        ['{"a": "中", "b": 1.5}'],
        "as JSON text",
    ),
    "bytes that are text": (column(["é".encode()], pa.binary()), "VARCHAR", ["é"], "read as text"),
    "bytes": (column([b"\xff\x00"], pa.binary()), "BLOB", ["b:ff00"], ""),
    "nothing but NULL": (column([None, None], pa.null()), "VARCHAR", [NULL, NULL], ""),
    "no rows": (column([], pa.int64()), "BIGINT", [], ""),
}


@pytest.mark.parametrize("name", CASES)
def test_types_and_values_are_kept(name: str, folder: Path, tmp_path: Path) -> None:
    table, kind, values, said = CASES[name]
    pq.write_table(table, folder / "t.parquet")
    check(build(folder, tmp_path / "store"), kind, values, said)


def check(built: Built, kind: str, values: list[Any], said: str) -> None:
    assert built.catalogue.tables, built.catalogue.files
    (found,) = built.catalogue.tables
    assert [[each.name, each.type] for each in found.columns] == [["v", kind]]
    assert built.rows(found.name) == [[value] for value in values]
    assert found.rows == len(values)
    assert said in notes(found)
    assert bool(said) == bool(notes(found).strip())


def test_nanoseconds_are_kept(folder: Path, tmp_path: Path) -> None:
    pq.write_table(column([1577836800000000001], pa.timestamp("ns")), folder / "t.parquet")
    built = build(folder, tmp_path / "store")
    assert built.catalogue.tables[0].columns[0].type == "TIMESTAMP_NS"


@pytest.mark.parametrize("suffix", [".feather", ".arrow", ".orc", ".parquet"])
def test_arrow_and_orc_files(suffix: str, folder: Path, tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "名": ["a", None]})
    if suffix == ".orc":
        orc.write_table(table, str(folder / "t.orc"))
    elif suffix == ".parquet":
        pq.write_table(table, folder / "t.parquet", row_group_size=1)
    else:
        feather.write_feather(table, folder / f"t{suffix}")
    assert build(folder, tmp_path / "store").rows("t") == [[1, "a"], [2, NULL]]


def test_equal_column_names(folder: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table([[1], [2], [3]], names=["a", "A", ""]), folder / "t.parquet")
    built = build(folder, tmp_path / "store")
    assert [each.name for each in built.catalogue.tables[0].columns] == ["a", "A_2", "column3"]
    assert built.rows("t") == [[1, 2, 3]]
    assert "of the same name: 'A' → 'A_2'" in notes(built.catalogue.tables[0])


def damage(data: bytes, way: str) -> bytes:
    if way == "cut":
        return data[: len(data) // 2]
    if way == "empty":
        return b""
    return data[:4] + bytes(len(data) - 8) + data[-4:] if way == "zeros" else b"a,b\n1,2\n"


@pytest.mark.parametrize("way", ["cut", "empty", "zeros", "other"])
def test_a_damaged_file_is_unreadable(way: str, folder: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": list(range(1000))}), folder / "t.parquet")
    (folder / "t.parquet").write_bytes(damage((folder / "t.parquet").read_bytes(), way))
    built = build(folder, tmp_path / "store")
    assert built.file("t.parquet").outcome == "unreadable", built.file("t.parquet")
    assert built.catalogue.tables == ()


def test_a_parquet_file_with_another_suffix(folder: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "t.csv")
    pq.write_table(pa.table({"a": [1]}), folder / "u")
    assert len(build(folder, tmp_path / "store").catalogue.tables) == 2
