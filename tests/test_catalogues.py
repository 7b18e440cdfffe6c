"""Folders of many made tables: the same ones for the same seed, and what a question needs is there."""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from catalogues import KINDS, WORDS, Asked, gold, make
from needs import needed


def content(folder: Path) -> dict[str, list[tuple[str, ...]]]:
    """Columns and rows of every table, read from the files."""
    found = {}
    for path in (folder / "context" / "csv").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.stem] = [tuple(row) for row in csv.reader(file)]
    with closing(sqlite3.connect(folder / "context" / "db" / "warehouse.db")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master").fetchall():
            rows = connection.execute(f'SELECT * FROM "{name}"')
            head = tuple(column[0] for column in rows.description)
            found[name] = [head, *(tuple(map(str, row)) for row in rows)]
    return found


def has(tables: dict[str, list[tuple[str, ...]]], asked: Asked) -> bool:
    ids = {f"{name}.{column}" for name in asked.tables for column in tables[name][0]}
    cells = {cell for name in asked.tables for row in tables[name] for cell in row}
    return {*asked.columns} <= ids and {*asked.values} <= cells


@pytest.mark.parametrize(("count", "said"), [(30, WORDS), (300, WORDS), (300, "words_other.txt")])
def test_what_a_question_needs_is_in_the_folder(count: int, said: str, tmp_path: Path) -> None:
    asked = make(tmp_path, count, said=said)
    tables = content(tmp_path)
    assert len(tables) == count and all(len(rows[0]) >= 12 for rows in tables.values())
    assert all(has(tables, one) for one in asked)
    assert {one.kind for one in asked} == {*KINDS}


def test_the_first_and_the_last_table_by_name_are_asked_for(tmp_path: Path) -> None:
    asked = make(tmp_path, 300)
    names = sorted(content(tmp_path))
    needed = {name for one in asked for name in one.tables}
    assert {names[0], names[-1]} <= needed


def test_equal_seeds_give_equal_folders_and_others_do_not(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a", 60), make(tmp_path / "b", 60)
    assert first == second and content(tmp_path / "a") == content(tmp_path / "b")
    assert make(tmp_path / "c", 60, seed=2) != first


def test_values_that_are_asked_for_stand_in_one_table(tmp_path: Path) -> None:
    asked = make(tmp_path, 300)
    rows = {name: {cell for row in table[1:] for cell in row} for name, table in content(tmp_path).items()}
    for one in asked:
        for value in one.values:
            assert [name for name, cells in rows.items() if value in cells] == [one.tables[0]]


@pytest.mark.parametrize("count", [30, 300])
def test_gold_reads_what_the_question_needs(count: int, tmp_path: Path) -> None:
    asked = make(tmp_path, count)
    schema = {name: dict.fromkeys(table[0], "text") for name, table in content(tmp_path).items()}
    for one in asked:
        need = needed(one.sql, schema)
        assert ({*need.tables}, {*need.columns}) == ({*one.tables}, {*one.columns})


def test_gold_is_what_a_second_count_gives(tmp_path: Path) -> None:
    asked, tables = make(tmp_path, 30), content(tmp_path)
    for one in asked:
        if one.kind == "join":
            (key, name, link, measure), (value,) = (id.rpartition(".")[2] for id in one.columns), one.values
            owners, things = ([dict(zip(tables[n][0], row, strict=True)) for row in tables[n][1:]] for n in one.tables)
            keys = {row[key] for row in owners if row[name] == value}
            parts = [float(row[measure]) for row in things if row[link] in keys]
            assert gold(one, 30)[1:] == [(pytest.approx(sum(parts)) if parts else None,)]
