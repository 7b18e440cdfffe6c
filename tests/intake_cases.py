"""Folders that are built by the tests → their inventory, catalogue and rows, through the real stages."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tasks.core.files.store import Folder, Store, use
from tasks.core.models.catalogue import Catalogue, Table
from tasks.core.models.source import Inventory, SourceFile
from tasks.core.process import Worker
from tasks.core.sections import IntakeSettings
from tasks.core.settings import load
from tasks.intake.catalogue import build_catalogue
from tasks.intake.inventory import take_inventory
from tasks.intake.loading.loader import Loader
from tasks.intake.loading.problems import UNKNOWN, kind_of

CASES = Path(__file__).parent / "cases" / "intake"
NULL = "<null>"


@dataclass(frozen=True)
class Built:
    """A folder after intake."""

    inventory: Inventory
    catalogue: Catalogue
    database: Path

    def file(self, path: str) -> SourceFile:
        return next(file for file in self.catalogue.files if file.path == path)

    def tables(self, path: str) -> list[Table]:
        return [table for table in self.catalogue.tables if table.path == path]

    def rows(self, table: str) -> list[list[Any]]:
        """All rows in order; NULL as `<null>`, bytes as `b:` and hex, everything but numbers as text."""
        import duckdb

        with duckdb.connect(str(self.database), read_only=True) as connection:
            found = connection.execute(f'select * from "{table}"').fetchall()
        return [[_shown(value) for value in row] for row in found]


def _shown(value: Any) -> Any:
    if value is None:
        return NULL
    if isinstance(value, bytes):
        return f"b:{value.hex()}"
    return value if isinstance(value, bool | int | float) else str(value)


def intake_settings(**changes: Any) -> IntakeSettings:
    return load().intake.model_copy(update=changes)


class InProcess:
    """Stands in for the child in tests of the readers: the same requests, without the start of a process."""

    def __init__(self, module: str, memory_mb: int, forked: bool) -> None:
        self._loader = Loader(memory_mb)

    async def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(json.dumps(self._loader.handle(json.loads(json.dumps(request)))))
        return reply

    async def close(self) -> None:
        pass


def build(folder: Path, store: Path, child: bool = False, **limits: Any) -> Built:
    """Run inventory and catalogue over a folder; with `child`, files are read in a real child as in production."""

    async def run() -> Built:
        settings = intake_settings(**limits)
        inventory = await take_inventory(str(folder), settings)
        catalogue = await build_catalogue(inventory, settings)
        return Built(inventory, catalogue, opened.local(catalogue.database))

    worker = Worker if child else InProcess
    with use(Store(Folder(store), store / "cache")) as opened, mock.patch("tasks.intake.loading.client.Worker", worker):
        built = asyncio.run(run())
    uncoded = [said for said in said_of(built.catalogue) if kind_of(said).code == UNKNOWN]
    assert not uncoded, f"no code in tasks/intake/loading/problems.py for: {uncoded}"
    return built


def said_of(catalogue: Catalogue) -> list[str]:
    """Each reason and note."""
    found = [part for f in catalogue.files for part in (f.reason.split("; ") if f.outcome == "table" else [f.reason])]
    found += [note for t in catalogue.tables for note in (*t.notes, *(n for c in t.columns for n in c.notes))]
    return [said for said in found if said]


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file, each with a `name`."""
    return list(tomllib.loads((CASES / name).read_text("utf-8"))["case"])


def lay(case: dict[str, Any], folder: Path) -> str:
    """Write the file of a case; its path."""
    path = folder / case["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    if "script" in case:
        with sqlite3.connect(path) as connection:
            connection.executescript(case["script"])
        connection.close()
    elif "hex" in case:
        path.write_bytes(bytes.fromhex(case["hex"]))
    else:
        path.write_bytes(case["text"].encode(case.get("encoding", "utf-8")))
    return str(case["file"])


def notes(table: Table) -> str:
    """All that is said about a table."""
    return "\n".join((*table.notes, *(f"{c.name}: {note}" for c in table.columns for note in c.notes)))


@pytest.fixture(scope="session")
def built_cases(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The catalogue of all cases of one case file, built once."""
    made: dict[str, Built] = {}

    def get(name: str) -> Built:
        if name not in made:
            folder, store = tmp_path_factory.mktemp("cases"), tmp_path_factory.mktemp("store")
            for case in cases(name):
                lay(case, folder)
            made[name] = build(folder, store, child=True)
        return made[name]

    return get
