"""query + program → the program's table: the sandbox gets the query's rows as `rows`, and nothing else.

The solver's tool, its submission and the replay all run programs here, so that equal inputs give equal tables.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tasks.core.errors import QueryError
from tasks.core.evidence.rows import Frame, frame_of
from tasks.core.models.query import QueryResult
from tasks.core.sandbox.runner import run_program
from tasks.core.sections import SandboxSettings
from tasks.core.sql.cells import Digest
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import unique_names

MAX_ROWS = 100_000
"""Rows that a program gets: as objects they take about 1 KB each, within the sandbox's memory."""
_FILE = "rows.json"
_PRELUDE = f"import json as _json; rows = _json.load(open({_FILE!r}, encoding='utf-8'))\n"


@dataclass(frozen=True)
class Computed:
    """What a program made of a query's rows."""

    source: QueryResult
    """The query's result."""
    frame: Frame
    digest: str
    """Of the frame, as of a query result with these rows."""
    output: str
    """What the program printed."""
    tier: str
    """What isolated it."""


async def compute(engine: Engine, sql: str, program: str, limits: SandboxSettings) -> Computed:
    """Run the query, then the program over all its rows: a list of objects by column name, repeated names numbered.

    Raises QueryError, also when there are more than MAX_ROWS rows, and SandboxError.
    """
    source = await engine.query(sql, preview_rows=MAX_ROWS)
    if source.row_count > len(source.rows):
        raise QueryError(
            f"the query gives {source.row_count} rows, a program gets at most {MAX_ROWS}",
            "aggregate or filter in SQL first",
        )
    names = unique_names(source.columns)
    rows = [dict(zip(names, row, strict=True)) for row in source.rows]
    with tempfile.TemporaryDirectory(prefix="tablewright-rows-") as folder:
        path = Path(folder) / _FILE
        path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        result = await run_program(_PRELUDE + program, {_FILE: path}, limits)
    frame = frame_of(result.value)
    return Computed(source, frame, digest(frame), result.output, result.tier)


def digest(frame: Frame) -> str:
    """Digest of a program's table; equal to that of a query with the same rows."""
    total = Digest([""] * len(frame.columns))
    total.add(frame.rows)
    return total.hex()
