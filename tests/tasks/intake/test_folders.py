"""Whole folders against independent readers: every file has its outcome, every value is the source's, every line is there."""

from __future__ import annotations

import asyncio
import csv
import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from intake_cases import NULL, Built, build

from flows.running.task import read_task
from tasks.core.models.catalogue import Table
from tasks.intake.knowledge import read_knowledge

SAMPLES = sorted(path.parent for path in (Path(__file__).parents[3] / "data" / "samples").glob("*/task.json"))
WORDS = ["alpha", "北京", "it's", 'say "x"', "a,b", "007", "", "NA", "12%", "1,234", "2020-01-31", "é", "x\ny", " pad "]


def made(root: Path, seed: int) -> Path:
    """A task folder of random tables: the same kind of rows as csv, json and in a database, and a knowledge.md."""
    rng = random.Random(seed)
    for place in ("csv", "json", "db"):
        (root / "context" / place).mkdir(parents=True)
    (root / "task.json").write_text(json.dumps({"question": f"How many rows, {seed}?", "difficulty": "easy"}))
    lines = ["# Guide", "## Fields"]
    for number in range(6):
        name, columns, rows = f"表{number}" if number % 2 else f"table_{number}", ["id", "名 称", "select", "v"], []
        for i in range(rng.randint(0, 300)):
            rows.append([i, rng.choice(WORDS) or None, rng.random() * 10 ** rng.randint(-3, 6), rng.choice(WORDS)])
        _write(root / "context", ("csv", "json", "db")[number % 3], name, columns, rows)
        lines += [f"### {name}", *(f"- `{column}` (text): meaning of {column}" for column in columns)]
    (root / "context" / "knowledge.md").write_text("\n".join(lines), "utf-8")
    return root


def _write(context: Path, kind: str, name: str, columns: list[str], rows: list[list[Any]]) -> None:
    if kind == "csv":
        with (context / kind / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    elif kind == "json":
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        (context / kind / f"file of {name}.json").write_text(
            json.dumps({"table": name, "records": records}, ensure_ascii=False)
        )
    else:
        with sqlite3.connect(context / kind / "main.db") as connection:
            names = ", ".join(f'"{column}"' for column in columns)
            connection.execute(f'create table "{name}" ({names})')
            connection.executemany(f'insert into "{name}" values (?, ?, ?, ?)', rows)
        connection.close()


@pytest.fixture(params=[*(f"made-{seed}" for seed in range(3)), *(path.name for path in SAMPLES)])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    kind, _, seed = request.param.partition("-")
    return made(tmp_path / "task_1", int(seed)) if kind == "made" else SAMPLES[0].parent / request.param


def source(path: Path, table: Table) -> list[list[Any]]:
    """The rows as a reader that knows nothing of ours gives them."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))[1:]
    if path.suffix in (".json", ".jsonl"):
        data = json.loads(path.read_text("utf-8"))
        records = data["records"] if isinstance(data, dict) else data
        return [[record.get(column.name) for column in table.columns] for record in records]
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        return [list(row) for row in connection.execute(f'select * from "{table.inner}"')]


def same(given: Any, read: Any, kind: str) -> bool:
    if read == NULL:
        return given in (None, "") or (kind != "VARCHAR" and str(given).strip() in ("NA", "-"))
    if kind in ("BIGINT", "HUGEINT"):
        return int(given) == read
    if kind == "DOUBLE":
        return float(given) == read
    return str(given) == str(read)


def check_files(built: Built, folder: Path) -> None:
    listed = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {file.path for file in built.catalogue.files} == listed
    assert all(file.outcome != "unreadable" for file in built.catalogue.files)
    for file in built.catalogue.files:
        assert (file.outcome == "table") == bool(built.tables(file.path))


def check_values(built: Built, folder: Path) -> None:
    for table in built.catalogue.tables:
        rows, given = built.rows(table.name), source(folder / table.path, table)
        assert len(rows) == table.rows == len(given) and not table.set_aside
        for read, wanted in zip(rows, given, strict=True):
            for column, a, b in zip(table.columns, wanted, read, strict=True):
                assert same(a, b, column.type), (table.name, column.name, a, b)


def test_a_folder_is_read_as_it_is(folder: Path, tmp_path: Path) -> None:
    built = build(folder, tmp_path / "store", child=True)
    check_files(built, folder)
    if folder.parent != SAMPLES[0].parent:
        check_values(built, folder)
    task = read_task(str(folder))
    assert task and task.question
    knowledge = asyncio.run(read_knowledge.function(built.inventory))
    lines = knowledge.text.splitlines()
    for definition in knowledge.definitions:
        assert definition.field in lines[definition.line - 1]
    names = {table.name for table in built.catalogue.tables}
    described = {definition.table for definition in knowledge.definitions if definition.table}
    drawn = {Path(file.path).stem for file in built.inventory.of("document")}  # these become tables later
    assert described <= names | drawn, described - names
    assert knowledge.definitions or knowledge.rules
