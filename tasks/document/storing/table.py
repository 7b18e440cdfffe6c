"""Settled cells → the rows of a table, of `_cells` and of `_columns`, with SQLite types that lose no value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks.core.models.document import ColumnType, Place, Plain, PlanColumn
from tasks.document.storing.settle import Settled, Statement

CELLS = (
    'record TEXT NOT NULL, "column" TEXT NOT NULL, value, raw TEXT, status TEXT NOT NULL, quote TEXT, line INTEGER, '
    "page INTEGER, path TEXT, file_line INTEGER, section TEXT, statements TEXT NOT NULL, note TEXT NOT NULL, "
    'PRIMARY KEY (record, "column")'
)
"""One row for each record and column, also where the text says nothing (`missing`) or nobody knows (`unread`).

`line` counts in the converted text, `file_line` in the file (for a PDF both are the same text), `page` from 1, NULL
without pages. `statements` is JSON: all that the text says about the cell, in text order.
"""
COLUMNS = (
    "name TEXT PRIMARY KEY, type TEXT NOT NULL, unit TEXT NOT NULL, doc_meaning TEXT NOT NULL, task_meaning TEXT NOT NULL, "
    "role TEXT NOT NULL, stored INTEGER NOT NULL, verified INTEGER NOT NULL, derived INTEGER NOT NULL, "
    "unverified INTEGER NOT NULL, conflict INTEGER NOT NULL, missing INTEGER NOT NULL, unread INTEGER NOT NULL, "
    "unasked INTEGER NOT NULL, program TEXT NOT NULL"
)
"""`unasked`: of the missing, records that no line names that was read for the column. `program`: the model's transform
that `derived` values come from; empty where none was used."""
_EXACT = 2**53
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Drawn:
    """One column of the plan with its cells, in the order of the records."""

    column: PlanColumn
    cells: tuple[Settled, ...]
    program: str = ""

    @property
    def stored(self) -> bool:
        """Whether the table has it; else `_cells` alone."""
        return self.column.role != "noise"

    @property
    def unasked(self) -> int:
        """Missing cells about which nothing was asked, for no line names the record."""
        return sum(cell.status == "missing" and not cell.asked for cell in self.cells)

    def count(self, status: str) -> int:
        """Cells of that status."""
        return sum(cell.status == status for cell in self.cells)


def declared(type: ColumnType, values: Iterable[Plain]) -> str:
    """SQLite type of a column; wider than the plan's where a value would lose digits."""
    known = [value for value in values if value is not None]
    if type in ("text", "date", "datetime") or any(isinstance(value, str) for value in known):
        return "TEXT"
    if any(isinstance(value, int) and abs(value) > _LARGEST for value in known):
        return "TEXT"
    whole = all(isinstance(value, int) for value in known)
    if type in ("integer", "boolean") or any(isinstance(value, int) and abs(value) > _EXACT for value in known):
        return "INTEGER" if whole else "REAL"
    return "REAL"


def stored_value(value: Plain, declared_as: str) -> Plain:
    """The value as SQLite takes it in a column of that type."""
    if value is None or isinstance(value, str):
        return value
    if declared_as == "TEXT":
        return str(value)
    return int(value) if isinstance(value, bool) else value


def cell_row(record: str, name: str, cell: Settled, places: Sequence[Place]) -> tuple[Plain, ...]:
    """A row of `_cells`."""
    value = cell.value
    if isinstance(value, int) and abs(value) > _LARGEST:
        value = str(value)
    head = (record, name, stored_value(value, ""))
    source = cell.source
    statements = json.dumps([_statement(s, places) for s in cell.statements], ensure_ascii=False)
    if source is None:
        return (*head, None, cell.status, None, None, None, None, None, None, statements, cell.note)
    place = place_of(source.line, places)
    where = (source.line, place.page or None, place.path or None, place.line, source.section)
    return (*head, source.raw, cell.status, source.quote, *where, statements, cell.note)


def column_row(drawn: Drawn) -> tuple[Plain, ...]:
    """A row of `_columns`; `type` is the plan's, which says more than SQLite's."""
    column = drawn.column
    counts = (drawn.count(s) for s in ("verified", "derived", "unverified", "conflict", "missing", "unread"))
    meanings = (column.doc_meaning, column.task_meaning)
    return (
        column.name,
        column.type,
        column.unit,
        *meanings,
        column.role,
        int(drawn.stored),
        *counts,
        drawn.unasked,
        drawn.program,
    )


def place_of(line: int, places: Sequence[Place]) -> Place:
    """Where a line of the text stands; the text itself where nothing is known."""
    return places[line - 1] if 0 < line <= len(places) else Place(path="", line=line)


def _statement(statement: Statement, places: Sequence[Place]) -> dict[str, Plain]:
    source, place = statement.source, place_of(statement.source.line, places)
    return {
        "relation": statement.relation,
        "raw": source.raw,
        "value": statement.reading.value,
        "quote": source.quote,
        "line": source.line,
        "page": place.page or None,
        "path": place.path,
        "file_line": place.line,
        "section": source.section,
        "corrects": source.corrects,
    }
