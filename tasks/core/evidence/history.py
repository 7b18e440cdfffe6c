"""tables drawn from documents → what their cells were before: values that the text took back, cells that nothing proves."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from tasks.core.files import store as stores
from tasks.core.models.catalogue import Table

_MOST = 50_000
"""Cells of one table that are looked at."""


class TakenBack(NamedTuple):
    """A value that a document gave for a cell and corrected later."""

    record: str
    column: str
    before: str
    now: str
    """As the table holds it, as text; empty for NULL."""


class Doubtful(NamedTuple):
    """A cell whose value does not follow from the text, or about which the text says two things."""

    record: str
    column: str
    status: str
    """`unverified` or `conflict`."""


def taken_back(table: Table, columns: Sequence[str]) -> tuple[TakenBack, ...]:
    """Earlier values of these columns' cells that no record has now; nothing for a table that is one in its file."""
    rows = _rows(table, columns, "true")
    present = {(column, _text(value)) for _, column, value, _ in rows}
    found = []
    for record, column, value, statements in rows:
        for said in json.loads(str(statements)):
            before = _text(said["value"])
            if said["relation"] == "superseded" and before and (column, before) not in present:
                found.append(TakenBack(str(record), str(column), before, _text(value)))
    return tuple(dict.fromkeys(found))


def doubtful(table: Table, columns: Sequence[str]) -> tuple[Doubtful, ...]:
    """Cells of these columns that are unverified or in conflict, in the order of the records."""
    rows = _rows(table, columns, "status IN ('unverified', 'conflict')", "status")
    return tuple(Doubtful(str(record), str(column), str(status)) for record, column, _, status in rows)


def _text(value: object) -> str:
    """The value as text; numbers without a fraction that is none, empty for NULL."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _rows(
    table: Table, columns: Sequence[str], condition: str, last: str = "statements"
) -> list[tuple[str | int | float | None, ...]]:
    if table.drawn is None or not columns:
        return []
    path = stores.current().local(table.drawn.database)
    marks = ", ".join("?" * len(columns))
    sql = f'SELECT record, "column", value, {last} FROM _cells WHERE "column" IN ({marks}) AND {condition}'
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        return db.execute(f"{sql} ORDER BY rowid LIMIT {_MOST}", list(columns)).fetchall()
