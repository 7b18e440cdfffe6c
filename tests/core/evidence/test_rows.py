"""Rows of queries and programs in the answer's form."""

from __future__ import annotations

import asyncio
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.errors import SandboxError
from tasks.core.evidence.rows import frame_of, is_formula, plain, read_export, text_of, write
from tasks.core.settings import Settings
from tasks.core.sql.engine import Engine


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.50", "3.5"),
        ("1.0", "1"),
        ("100", "100"),
        ("1e+20", "100000000000000000000"),
        ("1.5e-07", "0.00000015"),
        ("-0.0", "0"),
        ("-12.340", "-12.34"),
        ("0.1", "0.1"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("[1.50]", "[1.50]"),
        ("", ""),
    ],
)
def test_numbers_are_plain_and_short(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_plain_number_is_the_same_number(value: float) -> None:
    text = text_of(value)

    assert text is not None
    assert "e" not in text.lower()
    assert float(text) == value
    assert Decimal(text) == Decimal(repr(value))


def test_an_exported_query_becomes_the_answers_file(settings: Settings, tmp_path: Path) -> None:
    sql = """
        select * from (values
            (1, 'a,b', 1.50::double, null, 'he said "no"', '', '007', date '2024-03-05', timestamp '2024-03-05 01:02:03', true),
            (2, E'two\nlines', 1e20, '杭州', E'\r', null, null, null, null, false)
        ) t(i, s, f, n, q, e, id, d, ts, b)"""

    written, tally = _export(settings, tmp_path, sql)

    assert written == (
        "i,s,f,n,q,e,id,d,ts,b\n"
        '1,"a,b",1.5,,"he said ""no""","",007,2024-03-05,2024-03-05 01:02:03,true\n'
        '2,"two\nlines",100000000000000000000,杭州,"\r",,,,,false\n'
    )
    assert (tally.rows, tally.repeated) == (2, 0)
    assert tally.nulls == (0, 0, 0, 1, 0, 1, 1, 1, 1, 0)


def test_a_lone_null_is_a_row_and_counted(settings: Settings, tmp_path: Path) -> None:
    written, tally = _export(settings, tmp_path, "select null::double as x from range(3)")

    assert written == 'x\n""\n""\n""\n'
    assert (tally.rows, tally.nulls, tally.repeated) == (3, (3,), 2)


TEXTS = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6))


@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from([None, "1", "2.5"])), max_size=6))
def test_what_is_written_is_read_again(rows: list[tuple[str | None, str | None, str | None]]) -> None:
    path = _SCRATCH[0] / "rows.csv"

    tally = write(path, ("a", "b", "c"), rows)

    assert [tuple(row) for row in read_export(path, ("VARCHAR", "VARCHAR", "DOUBLE"))] == rows
    assert tally.rows == len(rows)
    assert tally.repeated == len(rows) - len(set(rows))


@pytest.mark.parametrize(
    ("value", "columns", "rows"),
    [
        ([{"a": 1, "b": "x"}, {"b": None, "c": 2.5}], ("a", "b", "c"), ((1, "x", None), (None, None, 2.5))),
        ([[1, "杭州"], [2, None]], ("column_1", "column_2"), ((1, "杭州"), (2, None))),
        ({"columns": ["n"], "data": [[1], [2]]}, ("n",), ((1,), (2,))),
        ({"n": [1, 2], "m": ["a", "b"]}, ("n", "m"), ((1, "a"), (2, "b"))),
        ({"n": 1, "m": True}, ("n", "m"), ((1, True),)),
        ([3, 1, 2], ("value",), ((3,), (1,), (2,))),
        (42, ("value",), ((42,),)),
        ([{"a": {"k": [1, "é"]}}], ("a",), (('{"k": [1, "é"]}',),)),
        ({"columns": ["n"], "data": []}, ("n",), ()),
        ([], ("value",), ()),
    ],
)
def test_a_programs_result_is_a_table(value: Any, columns: tuple[str, ...], rows: tuple[Any, ...]) -> None:
    frame = frame_of(value)

    assert (frame.columns, frame.rows) == (columns, rows)


@pytest.mark.parametrize(
    "value",
    [None, [[1, 2], [3]], [{"a": 1}, [2]], [1, [2]], {"a": [1], "b": [1, 2]}, {"columns": ["a"], "data": [[1, 2]]}],
)
def test_a_result_that_is_no_table_goes_back_to_the_program(value: Any) -> None:
    with pytest.raises(SandboxError):
        frame_of(value)


@pytest.mark.parametrize(
    ("cell", "text"), [(None, None), ("", ""), (True, "true"), (10**20, "1" + "0" * 20), (2.0, "2")]
)
def test_cells_of_programs_are_written_like_those_of_queries(cell: Any, text: str | None) -> None:
    assert text_of(cell) == text


_SCRATCH: list[Path] = []


@pytest.fixture(autouse=True, scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> None:
    _SCRATCH[:] = [tmp_path_factory.mktemp("rows")]


def _export(settings: Settings, folder: Path, sql: str) -> tuple[str, Any]:
    duckdb.connect(str(folder / "empty.duckdb")).close()

    async def run() -> Any:
        async with Engine(folder / "empty.duckdb", settings.query) as engine:
            return await engine.export(sql, folder / "rows.csv")

    found = asyncio.run(run())
    tally = write(folder / "answer.csv", found.columns, read_export(folder / "rows.csv", found.types))
    return (folder / "answer.csv").read_bytes().decode(), tally


def test_one_cell_of_a_million_lines_or_quotes_is_read_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    began = time.process_time()
    for text in ("\n" * 1_000_000, '"' * 1_000_000, 'a\n"b",' * 100_000):
        path.write_text('text\n"' + text.replace('"', '""') + '"\n', "utf-8")
        assert list(read_export(path, ["VARCHAR"])) == [[text]]
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "text",
    ["=1", "=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+86 138", "-2+3", "-item", "- item", "\t=1", "\r=1", "＝1+1", "-2024-01"],
)  # fmt: skip
def test_text_that_a_spreadsheet_would_compute_is_known(text: str) -> None:
    assert is_formula(text)


@pytest.mark.parametrize(
    "text", ["", "-", "--", "-5", "+5", "-1.5e-7", "-12%", "-1,234.50", "a=1", "5-3", "@", "=", "−5", "1", "北京"]
)
def test_numbers_and_signs_alone_are_no_formulas(text: str) -> None:
    assert not is_formula(text)


def test_formulas_are_counted_and_written_as_they_are(tmp_path: Path) -> None:
    tally = write(tmp_path / "a.csv", ("n", "=1+1"), [["-5", "=2"], ["1", None], ["-x", "+86 138"]])
    assert tally.formulas == (1, 3)
    assert (tmp_path / "a.csv").read_text("utf-8") == "n,=1+1\n-5,=2\n1,\n-x,+86 138\n"
