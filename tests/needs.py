"""A suite's task folders and their gold → questions with the tables and columns that their answer needs.

Gold is `gold/TASK/gold.sql`, or the `reference_sql` of `gold/TASK/truth.json`, whose documents stand in as the tables that
they would become. A task without either is left out, and counted.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sqlglot import exp, parse_one
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

Schema = Mapping[str, Mapping[str, str]]
"""Types of columns by table."""


class Task(NamedTuple):
    """A question over a folder, and the SQL that answers it."""

    name: str
    folder: Path
    question: str
    sql: str


class Needed(NamedTuple):
    """Canonical names; columns as `table.column`."""

    tables: tuple[str, ...]
    columns: tuple[str, ...]


def tasks_of(suite: Path, gold: Path, scratch: Path) -> Iterator[Task]:
    """Tasks whose gold says how it is computed; those with documents as a copy in `scratch`."""
    for path in sorted(suite.glob("*/task.json")):
        name = path.parent.name
        question = json.loads(path.read_text("utf-8"))["question"]
        told, truth = gold / name / "gold.sql", gold / name / "truth.json"
        if told.is_file():
            yield Task(name, path.parent, question, told.read_text("utf-8"))
        elif truth.is_file():
            found = json.loads(truth.read_text("utf-8"))
            folder = _drawn(path.parent, scratch / name, found["docs"])
            yield Task(name, folder, question, found["reference_sql"])


def _drawn(task: Path, copy: Path, documents: Mapping[str, Any]) -> Path:
    """The task with the true tables of its documents as CSV in place of all documents."""
    shutil.copytree(task, copy, ignore=shutil.ignore_patterns("doc"), dirs_exist_ok=True)
    (copy / "context" / "csv").mkdir(exist_ok=True)
    for name, document in documents.items():
        with (copy / "context" / "csv" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(document["columns"]), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(document["records"])
    return copy


def needed(sql: str, schema: Schema) -> Needed:
    """Tables and columns that a query reads. Raises SqlglotError or KeyError when it does not fit the schema."""
    names = {table.casefold(): (table, {column.casefold(): column for column in schema[table]}) for table in schema}
    folded: dict[str, object] = {table: dict.fromkeys(columns, "text") for table, (_, columns) in names.items()}
    whole = qualify(parse_one(sql.casefold(), dialect="sqlite"), schema=folded, dialect="sqlite", expand_stars=True)
    tables: dict[str, None] = {}
    columns: dict[str, None] = {}
    for scope in traverse_scope(whole):
        sources = {alias: source for alias, source in scope.sources.items() if isinstance(source, exp.Table)}
        tables |= dict.fromkeys(names[source.name][0] for source in sources.values())
        for column in scope.columns:
            if column.table in sources:
                table, inside = names[sources[column.table].name]
                columns[f"{table}.{inside[column.name]}"] = None
    return Needed(tuple(tables), tuple(columns))
