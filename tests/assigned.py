"""A task folder → what a run over it gives its solver, without a model; tables of documents come from where they were delivered."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

from tasks.core.files import store as stores
from tasks.core.models.answer import Assignment, Brief, Contract, Question
from tasks.core.models.document import ColumnQuality, DerivedTable
from tasks.core.settings import Settings
from tasks.intake.catalogue import build_catalogue
from tasks.intake.derived import add_derived
from tasks.intake.inventory import take_inventory
from tasks.intake.knowledge import read_knowledge
from tasks.solve.profile import profile_tables

AS_OF = date(2026, 11, 30)


async def assigned(folder: Path, question: Question, settings: Settings, derived: Path | None = None) -> Assignment:
    """The folder read and measured; `derived` holds the SQLite files that an earlier run drew from its documents."""
    inventory = await take_inventory.function(str(folder), settings.intake)
    knowledge = await read_knowledge.function(inventory)
    catalogue = await build_catalogue.function(inventory, settings.intake)
    if derived and (tables := [drawn(path) for path in sorted(derived.glob("*.sqlite"))]):
        catalogue = await add_derived.function(catalogue, tuple(tables), settings.intake)
    catalogue = catalogue.measurable
    return Assignment(
        question=question,
        brief=Brief(text="", tokens=0, shown=()),
        contract=Contract(),
        catalogue=catalogue,
        profile=await profile_tables.function(catalogue, knowledge, settings.profiling, settings.query),
        knowledge=knowledge,
    )


def drawn(path: Path) -> DerivedTable:
    """A delivered table of a document, put into the present store."""
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row

        def rows(sql: str) -> list[Any]:
            return db.execute(sql).fetchall()

        table = next(name for (name,) in rows("SELECT name FROM sqlite_master WHERE type = 'table'") if name[:1] != "_")
        columns = [dict(row) for row in rows("SELECT * FROM _columns")]
        paths = tuple(p for (p,) in rows("SELECT DISTINCT path FROM _cells WHERE path IS NOT NULL ORDER BY path"))
        records = rows(f'SELECT count(*) FROM "{table}"')[0][0]
    counts = ("verified", "derived", "unverified", "conflict", "missing", "unasked")
    qualities = tuple(
        ColumnQuality(
            **{name: column[name] for name in ("name", "type", "unit", *counts)},
            meaning=column["task_meaning"],
            stored=bool(column["stored"]),
        )
        for column in columns
    )
    return DerivedTable(
        stem=path.stem,
        table=table,
        paths=paths,
        database=stores.current().put_file(path, path.name),
        key=next(column["name"] for column in columns if column["role"] == "key"),
        records=records,
        columns=qualities,
        perfect=not any(column.unverified or column.conflict for column in qualities),
    )


def question_of(folder: Path) -> Question:
    """What the task asks."""
    told = json.loads((folder / "task.json").read_text("utf-8"))
    return Question(text=told["question"], as_of=AS_OF, task_id=folder.name)
