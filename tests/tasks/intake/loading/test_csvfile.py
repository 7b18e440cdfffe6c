"""Large, late and wide: what changes after 30,000 rows, and the fast path that must read like the careful one."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest
from intake_cases import NULL, build, notes

from tasks.core.sql.build import Builder
from tasks.intake.loading import csvfile

MANY = 30_000


def one(tmp_path: Path, data: str | bytes, name: str = "t.csv") -> Any:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    built = build(folder, tmp_path / "store")
    assert built.file(name).outcome == "table", built.file(name).reason
    (table,) = built.tables(name)
    return table, built.rows(table.name)


LATE: dict[str, tuple[str, str, str, Any, str]] = {
    "zeros": ("600000", "000001", "VARCHAR", "000001", "leading zeros"),
    "decimal": ("7", "1.5", "DOUBLE", 1.5, ""),
    "text": ("7", "abc", "VARCHAR", "abc", "1 of 30,001 values are no plain numbers, e.g. 'abc'"),
    "big": ("7", "9223372036854775808", "HUGEINT", 9223372036854775808, ""),
    "mark": ("7", "NA", "BIGINT", NULL, "1 marks such as 'NA' read as NULL"),
    "form": ("2020-01-01", "01/02/2020", "VARCHAR", "01/02/2020", "more than one form"),
    "impossible": ("2020-01-01", "2020-02-30", "VARCHAR", "2020-02-30", ""),
    "percent": ("1.5", "12.5%", "VARCHAR", "12.5%", "1 of 30,001 values are no plain numbers"),
    "quoted": ("x", '"a\nb"', "VARCHAR", "a\nb", ""),
}
"""A column of 30,000 equal values and one late one: value, late value, type, late value as read, note."""


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("late")
    for name, (early, last, *_) in LATE.items():
        rows = "".join(f"{i},{early}\n" for i in range(MANY))
        (folder / f"{name}.csv").write_text(f"id,v\n{rows}{MANY},{last}\n")
    return build(folder, tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize("name", LATE)
def test_what_comes_after_30_000_rows_counts(late: Any, name: str) -> None:
    _, _, kind, last, note = LATE[name]
    (table,) = late.tables(f"{name}.csv")
    rows = late.rows(name)
    assert (table.columns[1].type, len(rows), rows[-1]) == (kind, MANY + 1, [MANY, last])
    assert note in notes(table)


def test_one_gbk_line_after_20_000_ascii_lines(tmp_path: Path) -> None:
    data = b"id,v\n" + b"1,plain\n" * 20_000 + "2,内部编码与证券代码的对应关系\n".encode("gbk")
    table, rows = one(tmp_path, data)
    assert rows[-1] == [2, "内部编码与证券代码的对应关系"]
    assert "gb18030" in notes(table)


def test_the_first_odd_character_after_4_kb(tmp_path: Path) -> None:
    _, rows = one(tmp_path, "a,b\n" + "x" * 4096 + ",café\n")
    assert rows == [["x" * 4096, "café"]]


def test_utf8_and_gbk_lines_in_one_file(tmp_path: Path) -> None:
    line = "1,公司内部编码与证券代码的对应关系\n"
    table, rows = one(tmp_path, b"id,v\n" + line.encode() * 20 + line.encode("gbk") * 20)
    assert {row[1] for row in rows} == {"公司内部编码与证券代码的对应关系"}
    assert "each was read as what it is" in notes(table)


def test_2_000_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(2000)]
    lines = [",".join(names)] + [
        ",".join(f"{row}{i:04d}" if i % 2 else f"t{i}" for i in range(2000)) for row in range(50)
    ]
    table, rows = one(tmp_path, "\n".join(lines) + "\n")
    assert [column.name for column in table.columns] == names
    assert len(rows) == 50
    assert rows[1][1999] == "11999" and rows[1][1998] == "t1998"


def test_a_cell_of_3_mb(tmp_path: Path) -> None:
    text = "字" * 1_000_000
    _, rows = one(tmp_path, f"id,v\n1,{text}\n2,b\n")
    assert rows == [[1, text], [2, "b"]]


def test_a_row_of_many_fields_is_set_aside(tmp_path: Path) -> None:
    table, rows = one(tmp_path, "a,b\n1,2\n" + ",".join("x" * 500) + "\n3,4\n")
    assert rows == [[1, 2], [3, 4]]
    assert table.set_aside == 1


def test_more_set_aside_lines_than_one_batch(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    wide = ",".join("x" * 50)
    (folder / "t.csv").write_text("a,b\n" + f"1,2\n{wide}\n" * 6000)
    built = build(folder, tmp_path / "store")
    (table,) = built.tables("t.csv")
    assert (table.rows, table.set_aside) == (6000, 6000)
    aside = built.rows("t__set_aside")
    assert len(aside) == 6000 and aside[-1][0] == 12001
    assert aside[-1][2] == "50 fields in place of 2"


def test_a_quote_in_the_last_line_of_a_long_file(tmp_path: Path) -> None:
    table, rows = one(tmp_path, "id,v\n" + "1,a\n" * 5000 + '2,"never closed\n' + "3,b\n" * 5000)
    assert len(rows) == 10_000
    assert table.set_aside == 1


def text_table(seed: int, lines: int) -> str:
    """Random regular CSV: quotes, blanks, marks, Chinese, empty and quoted empty fields."""
    rng = random.Random(seed)
    pieces = [
        "",
        '""',
        "x",
        " y ",
        "1",
        "007",
        "-2.5",
        "NA",
        "2020-01-31",
        "字段",
        '"a,b"',
        '"q""q"',
        "#",
        "'s",
        "1,5",
        "\t",
    ]
    rows = []
    for _ in range(lines):
        row = [rng.choice(pieces) for _ in range(5)]
        rows.append(",".join(part if "," not in part or part.startswith('"') else f'"{part}"' for part in row))
    return "a,b,c,d,e\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_fast_path_reads_like_the_careful_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, end: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text_table(seed, 3000).replace("\n", end).encode())
    fast: list[bool] = []
    original = csvfile._read_fast

    def watched(*args: Any) -> bool:
        fast.append(original(*args))
        return fast[-1]

    monkeypatch.setattr(csvfile, "_read_fast", watched)
    results = []
    for threshold in (0, 1 << 30):
        monkeypatch.setattr(csvfile, "_FAST_BYTES", threshold)
        builder = Builder(tmp_path / f"{threshold}.duckdb", tmp_path, 500)
        parts = csvfile.load(path, "t", builder, 10_000, tmp_path)
        results.append((parts, builder.run("select * from t")))
        builder.close()
    assert fast == [True, False]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "odd",
    ["1,2\n", "1,2,3,4\n", '1,"2\n2",3\n', '1,"2"x,3\n', "\n", '1,2"2,3\n', '1,"2,3\n', "1,2,3\r"],
    ids=["short", "long", "newline", "loose", "blank", "inches", "unclosed", "return"],
)
def test_an_irregular_line_anywhere_ends_the_fast_path_or_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("a,b,c\n" + "1,2,3\n" * 5000 + odd + "4,5,6\n" * 5000).encode())
    results = []
    for threshold in (0, 1 << 30):
        monkeypatch.setattr(csvfile, "_FAST_BYTES", threshold)
        builder = Builder(tmp_path / f"{threshold}.duckdb", tmp_path, 500)
        parts = csvfile.load(path, "t", builder, 10_000, tmp_path)
        results.append((parts, builder.run("select * from t")))
        builder.close()
    assert results[0] == results[1]
    assert results[0][0][0].rows + results[0][0][0].set_aside >= 10_000


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_the_csv_module(tmp_path: Path, seed: int) -> None:
    """Text columns hold exactly what Python's csv module reads, but that it cannot tell '' from nothing."""
    text = text_table(seed, 500).replace("a,b,c,d,e", "name,b c,订单,select,E")
    _, rows = one(tmp_path, text)
    expected = list(csv.reader(io.StringIO(text)))[1:]
    assert [[("" if value == NULL else value) for value in row] for row in rows] == expected
