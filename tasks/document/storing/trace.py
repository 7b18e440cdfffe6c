"""A derived database, a record and a column → where that cell's value comes from."""

from __future__ import annotations

import contextlib
import difflib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.models.document import CellStatus
from tasks.core.models.value import Value
from tasks.document.records.anchors import plain

_NEAR = 5


class TracedStatement(Value):
    """One statement of the text about a cell."""

    relation: str
    """`holds`, `repeats`, `superseded` by a correction, or `contradicts` another."""
    raw: str
    value: str | int | float | bool | None
    """None when it could not be read."""
    quote: str
    path: str
    file_line: int
    page: int | None
    line: int
    section: str
    corrects: bool


class Trace(Value):
    """A cell and all that it rests on."""

    table: str
    record: str
    column: str
    value: str | int | float | None
    status: CellStatus
    raw: str | None
    quote: str | None
    path: str | None
    """File, relative to the folder; None where the text says nothing."""
    file_line: int | None
    """Line of the file; of a PDF and its like, of the text made from it."""
    page: int | None
    """None where the format has no pages."""
    line: int | None
    """Line of the converted text."""
    section: str | None
    note: str
    type: str
    unit: str
    meaning: str
    program: str
    """The model's transform that gave the value; empty when none did."""
    statements: tuple[TracedStatement, ...]
    """In text order, the one that holds among them."""

    @property
    def superseded(self) -> tuple[TracedStatement, ...]:
        """Earlier statements that a correction replaced."""
        return tuple(s for s in self.statements if s.relation == "superseded")


def trace(database: Path, record: str, column: str) -> Trace:
    """Where a cell comes from; full-width signs and space around a record, and case of a column, do not matter.

    Raises InputError for a file that is no derived table, an unknown record or an unknown column; it names near ones.
    """
    with _opened(database) as db:
        table = _table(db, database)
        columns = {str(row["name"]): row for row in _rows(db, "SELECT * FROM _columns ORDER BY rowid")}
        name = _column(column, list(columns), table)
        cell = _cell(db, _record(db, record, table), name)
    about = columns[name]
    return Trace(
        table=table,
        **{key: cell[key] for key in ("record", "column", "value", "status", "raw", "quote", "path", "file_line")},
        **{key: cell[key] for key in ("page", "line", "section", "note")},
        **{key: about[key] for key in ("type", "unit")},
        meaning=about["task_meaning"],
        program=about["program"] if cell["status"] == "derived" else "",
        statements=tuple(TracedStatement(**statement) for statement in json.loads(cell["statements"])),
    )


@contextlib.contextmanager
def _opened(database: Path) -> Any:
    try:
        db = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        with contextlib.closing(db):
            db.row_factory = sqlite3.Row
            yield db
    except sqlite3.Error as error:
        raise InputError(
            f"{database} cannot be read as a derived table: {error}", "give a file that the document flow made"
        ) from error


def _table(db: sqlite3.Connection, database: Path) -> str:
    names = [
        str(row["name"]) for row in _rows(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    ]
    if not {"_cells", "_columns"} <= set(names):
        found = ", ".join(names) or "none"
        raise InputError(
            f"{database} is no derived table: it has no _cells and _columns (tables: {found})",
            "give a file that the document flow made",
        )
    return next((name for name in names if name not in ("_cells", "_columns")), "")


def _column(column: str, known: list[str], table: str) -> str:
    folded = {name.casefold(): name for name in known}
    if column in known or column.casefold() in folded:
        return column if column in known else folded[column.casefold()]
    near = [folded[n] for n in difflib.get_close_matches(column.casefold(), folded, _NEAR, 0.5)]
    like = f"did you mean {' or '.join(near)}? " if near else ""
    raise InputError(f"table {table!r} has no column {column!r}", f"{like}its columns: {', '.join(known)}")


def _record(db: sqlite3.Connection, record: str, table: str) -> str:
    known = [str(row["record"]) for row in _rows(db, "SELECT DISTINCT record FROM _cells ORDER BY rowid")]
    if record in known:
        return record
    same = [name for name in known if plain(name) == plain(record)]
    if len(same) == 1:
        return same[0]
    near = same or difflib.get_close_matches(record, known, _NEAR, 0.5) or known[:_NEAR]
    raise InputError(
        f"table {table!r} has no record {record!r}",
        f"records like it: {', '.join(near)}"
        if near
        else "it has no records at all: draw it again with `tablewright document`",
    )


def _cell(db: sqlite3.Connection, record: str, column: str) -> sqlite3.Row:
    found = _rows(db, 'SELECT * FROM _cells WHERE record = ? AND "column" = ?', (record, column))
    if not found:
        raise InputError(f"no cell for record {record!r} and column {column!r}", "draw the table again")
    return found[0]


def _rows(db: sqlite3.Connection, sql: str, values: Sequence[str] = ()) -> list[sqlite3.Row]:
    return db.execute(sql, values).fetchall()
