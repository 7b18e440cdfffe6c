"""scored trials ⇄ Parquet files of a run: `trials`, `measures` (of their stages) and `costs` (of their stages)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.core.errors import InputError
from tasks.core.files.store import Folder
from tasks.core.models.benchmark import Scored

if TYPE_CHECKING:
    import pyarrow

TABLES = ("trials", "measures", "costs")
_KEY = {"run": "string", "suite": "string", "task": "string", "profile": "string", "model": "string", "repeat": "int64"}
_COLUMNS: dict[str, dict[str, str]] = {
    "trials": {
        **_KEY,
        "version": "string",
        "asked": "string",
        "gold": "string",
        "status": "string",
        "reason": "string",
        "score": "float64",
        "why": "string",
        "left_out": "string",
        "seconds": "float64",
        "calls": "int64",
        "tokens_in": "int64",
        "tokens_out": "int64",
        "paid": "int64",
        "money": "float64",
        "rows": "int64",
        "agreement": "float64",
        "sure": "bool",
        "place": "string",
    },
    "measures": {
        **_KEY,
        "left_out": "string",
        "stage": "string",
        "metric": "string",
        "right": "float64",
        "of": "float64",
    },
    "costs": {
        **_KEY,
        "left_out": "string",
        "stage": "string",
        "seconds": "float64",
        "calls": "int64",
        "journaled": "int64",
        "tokens_in": "int64",
        "tokens_cached": "int64",
        "tokens_out": "int64",
        "money": "float64",
    },
}
"""What each table holds; `left_out` is empty for what counts."""


def save(folder: Path, run: str, trials: Sequence[Scored]) -> None:
    """Write the three files of a run, each whole or not at all."""
    for name in TABLES:
        Folder(folder).write(f"{name}.parquet", _parquet(name, _rows(name, run, trials)))


def ask(folders: Sequence[Path], sql: str, values: Sequence[Any] = ()) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows of a query over the tables of these runs. Raises InputError when there are none."""
    from tasks.core.sql.parquet import query

    if not folders:
        raise InputError("there is no run to ask about", "make one: tablewright benchmark run")
    return query({name: [folder / f"{name}.parquet" for folder in folders] for name in TABLES}, sql, values)


def runs(results: Path) -> list[Path]:
    """Folders of the runs that came to their end, by name."""
    return sorted(path.parent for path in results.glob("*/trials.parquet"))


def _rows(name: str, run: str, trials: Iterable[Scored]) -> list[dict[str, Any]]:
    rows = []
    for trial in trials:
        whole = {"run": run, **trial.model_dump(exclude={"stages", "measures"})}
        parts: dict[str, Sequence[Any]] = {"measures": trial.measures, "costs": trial.stages}
        if name == "trials":
            rows.append(whole)
        else:
            rows += [{**whole, **part.model_dump()} for part in parts[name]]
    return [{column: row[column] for column in _COLUMNS[name]} for row in rows]


def _parquet(name: str, rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    types: dict[str, pyarrow.DataType] = {
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
    }
    schema = pa.schema([(column, types[kind]) for column, kind in _COLUMNS[name].items()])
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), buffer)
    return buffer.getvalue()
