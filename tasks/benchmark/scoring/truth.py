"""gold/TASK/truth.json → what is known to be true of a task's documents, beside its answer."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.core.errors import InputError
from tasks.core.files.paths import is_file
from tasks.core.models.value import Cell


class TrueColumn(BaseModel):
    """A column of a document's table."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    label: str = ""
    """Another name of it."""


class TrueTable(BaseModel):
    """The records of one document."""

    model_config = ConfigDict(extra="ignore")

    key: str
    columns: dict[str, TrueColumn]
    records: list[dict[str, Cell]]
    source_lines: dict[str, dict[str, int]] = {}
    """Record → column → line of the converted text."""


class Truth(BaseModel):
    """All of it; other fields of the file are not read."""

    model_config = ConfigDict(extra="ignore")

    relevant_docs: tuple[str, ...] = ()
    """Stems of the documents that the question needs."""
    relevant_tables: tuple[str, ...] = ()
    docs: dict[str, TrueTable] = {}
    """By stem."""


def read_truth(gold: Path) -> Truth | None:
    """The truth in a task's gold folder; None when there is none. Raises InputError when it cannot be used."""
    path = gold / "truth.json"
    if not is_file(path):
        return None
    try:
        return Truth.model_validate(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"cannot use {path}: {error}", "see docs/benchmark.md for its form") from error
