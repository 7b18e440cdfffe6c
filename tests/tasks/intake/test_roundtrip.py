"""Any rows, written in any form, are read back as they were; of any bytes as a CSV no letter is lost uncounted."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from intake_cases import NULL, Built, build
from openpyxl import Workbook

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=8)
"""Without the two that CSV readers and writers disagree about; each has a test of its own."""
SHOWN = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="_"), max_size=8)
"""What a cell of a workbook can hold, but for what is written as `_x0000_` there."""
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "whole": st.integers(-(2**63), 2**63 - 1),
    "decimal": st.floats(-1e12, 1e12).map(lambda x: round(x, 4)),
    "truth": st.booleans(),
    "day": st.dates().map(str),
}


class Rows(NamedTuple):
    """A made table: kinds of its columns, and its rows; None where there is no value."""

    kinds: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@st.composite
def tables(draw: st.DrawFn, *kinds: str, texts: st.SearchStrategy[str] = TEXTS) -> Rows:
    """A table whose first column numbers its rows, so that none is blank; text columns have a text in the first row."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    count = draw(st.integers(1, 5))
    columns: list[list[Any]] = [list(range(1, count + 1))]
    for kind in chosen:
        strategy = texts if kind == "text" else COLUMNS[kind]
        column = draw(st.lists(st.none() | strategy, min_size=count, max_size=count))
        columns.append(["Zoë 店", *column[1:]] if kind == "text" else column)
    return Rows(("whole", *chosen), list(zip(*columns, strict=True)))


def by_csv(path: Path, table: Rows, delimiter: str = ",") -> None:
    """Every text in quotes, so that an empty one is not none."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in [names(table), *table.rows]:
            file.write(delimiter.join(_field(value) for value in row) + "\n")


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = "true" if value is True else "false" if value is False else str(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if isinstance(value, str) else text


def by_json(path: Path, table: Rows) -> None:
    path.write_text(json.dumps([dict(zip(names(table), row, strict=True)) for row in table.rows]), "utf-8")


def by_lines(path: Path, table: Rows) -> None:
    records = (dict(zip(names(table), row, strict=True)) for row in table.rows)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")


def by_sqlite(path: Path, table: Rows) -> None:
    declared = {"text": "text", "whole": "integer", "decimal": "real", "truth": "boolean", "day": "text"}
    columns = ", ".join(f"{name} {declared[kind]}" for name, kind in zip(names(table), table.kinds, strict=True))
    with sqlite3.connect(path) as base:
        base.execute(f"create table t ({columns})")
        base.executemany(f"insert into t values ({', '.join('?' * len(table.kinds))})", table.rows)
    base.close()


def by_excel(path: Path, table: Rows) -> None:
    book = Workbook()
    sheet: Any = book.active
    for row in [names(table), *table.rows]:
        sheet.append(list(row))
    for cells in sheet.iter_rows(min_row=2):
        for cell in cells:
            if isinstance(cell.value, str):
                cell.data_type = "s"  # a text that begins with = is none the less one
    book.save(path)


def names(table: Rows) -> list[str]:
    return [f"{kind}_{place}" for place, kind in enumerate(table.kinds)]


FORMS: dict[str, tuple[Callable[[Path, Rows], None], st.SearchStrategy[Rows]]] = {
    "a.csv": (by_csv, tables("text", "whole", "decimal", "day")),
    "b.tsv": (lambda path, table: by_csv(path, table, "\t"), tables("text", "whole", "decimal", "day")),
    "c.json": (by_json, tables(*COLUMNS)),
    "d.jsonl": (by_lines, tables(*COLUMNS)),
    "e.db": (by_sqlite, tables(*COLUMNS)),
    "f.xlsx": (by_excel, tables("text", "decimal", "truth", texts=SHOWN)),
}


@contextlib.contextmanager
def taken_in(lay: Callable[[Path], None]) -> Iterator[Built]:
    """A folder as `lay` fills it, after intake."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        lay(folder)
        yield build(folder, Path(place) / "store")


def test_any_rows_in_any_form_come_back() -> None:
    @settings(max_examples=settings().max_examples // 16)
    @given(made=st.fixed_dictionaries({name: strategy for name, (_, strategy) in FORMS.items()}))
    def check(made: dict[str, Rows]) -> None:
        def lay(folder: Path) -> None:
            for name, table in made.items():
                FORMS[name][0](folder / name, table)

        with taken_in(lay) as built:
            for name, table in made.items():
                assert built.file(name).outcome == "table", (name, built.file(name).reason)
                (found,) = built.tables(name)
                assert found.rows == len(table.rows) and not found.set_aside, (name, found)
                assert [column.name for column in found.columns] == names(table)
                for row, back in zip(table.rows, built.rows(found.name), strict=True):
                    assert all(map(same, row, back)), (name, row, back)

    check()


def same(given: Any, back: Any) -> bool:
    """Whether a value is the one that was given, as a number or as it was written."""
    if given is None or (given == "" and back == NULL):
        return bool(back == NULL)
    if isinstance(given, bool):
        return back in (given, int(given), "true" if given else "false")
    if isinstance(given, int | float):
        return back == given or (isinstance(back, str) and float(back) == given)
    return bool(back == given)


PIECES = st.sampled_from(
    ["A", "B", "CD", "甲", "É", ",", ",", ";", "\t", "|", '"', '""', "'", "\n", "\n", "\r\n", "\r", " ", "\\", "#", "="]
)
"""Letters in capitals, which no name that is made up has, and all that tells fields and lines apart."""


@settings(max_examples=settings().max_examples // 6)
@given(files=st.lists(st.lists(PIECES, min_size=1, max_size=40).map("".join), min_size=4, max_size=4))
def test_no_letter_of_a_csv_is_lost_or_invented(files: list[str]) -> None:
    def lay(folder: Path) -> None:
        for number, text in enumerate(files):
            (folder / f"{number}.csv").write_text(text, "utf-8", newline="")

    with taken_in(lay) as built:
        for number, text in enumerate(files):
            name = f"{number}.csv"
            if built.file(name).outcome != "table":
                assert built.file(name).outcome == "unreadable" and built.file(name).reason, (text, built.file(name))
                continue
            kept: Counter[str] = Counter()
            for table in built.tables(name):
                kept += letters(" ".join(column.name for column in table.columns))
                for row in built.rows(table.name):
                    kept += letters(" ".join(map(str, row)))
                if table.set_aside:
                    for _, line, _ in built.rows(f"{table.name}__set_aside"):
                        kept += letters(line)
            assert kept == letters(text), (text, built.tables(name))


def letters(text: str) -> Counter[str]:
    """How often each of the letters stands in it."""
    return Counter(sign for sign in text if sign in "ABCD甲É")
