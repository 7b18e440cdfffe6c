"""used tables that were drawn from documents → their cells: counts by status, the doubtful ones, those of the answer."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from tasks.core.evidence.keyed import Taken
from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue, Table
from tasks.core.models.evidence import AnswerCell, DocumentCell, DrawnColumn, DrawnUse, UsedTable
from tasks.core.models.value import Cell

_DOUBTFUL = 50
"""Cells of one table that are listed; all of them are counted."""
_RECORDS = 500
"""Records asked for in one statement, below SQLite's limit of variables."""
_FIELDS = 'record, "column", value, raw, quote, path, file_line, page, status, note'


def uses(used: Sequence[UsedTable], catalogue: Catalogue) -> tuple[DrawnUse, ...]:
    """What the query rests on in documents; nothing for tables that are tables in their files."""
    tables = [catalogue.table(each.name) for each in used]
    return tuple(_use(table, each) for table, each in zip(tables, used, strict=True) if table and table.drawn)


def doubts(found: Iterable[DrawnUse]) -> Iterator[str]:
    """For each table a sentence where the query reads a cell that may be wrong, or it is imperfect; one where it reads cells
    for which the model named no value. Cells that nobody read, and columns without any value, are a failed check.
    """
    for use in found:
        said = [
            f"{column.name} ({', '.join(f'{n} {s}' for s, n in _bad(column))})"
            for column in use.columns
            if _bad(column)
        ]
        if said:
            yield f"{use.table} was drawn from {', '.join(use.paths)}; cells of it that may be wrong: {'; '.join(said)}"
        elif not use.perfect:
            notes = f": {use.notes[0]}" if use.notes else ""
            yield f"{use.table} was drawn from {', '.join(use.paths)} and is imperfect{notes}"
        if empty := [
            f"{c.name} ({c.missing} of {use.records} records)" for c in use.columns if c.missing and not c.blank
        ]:
            yield f"from {', '.join(use.paths)} the model named no value of {', '.join(empty)}; sums and counts leave them out"


def follow(
    taken: Taken, rows: Sequence[Sequence[Cell]], columns: Sequence[str], table: Table
) -> tuple[AnswerCell, ...]:
    """The document's cell for each cell of the answer that was taken over; `rows` have the record in their last cell."""
    records = [None if row[-1] is None else str(row[-1]) for row in rows]
    names = tuple(dict.fromkeys(taken.columns.values()))
    known = {(cell.record, cell.column): cell for cell in _cells(table, names, {r for r in records if r is not None})}
    return tuple(
        AnswerCell(row=number, column=columns[at], table=table.name, cell=cell)
        for number, record in enumerate(records, 1)
        for at, name in taken.columns.items()
        if record is not None and (cell := known.get((record, name)))
    )


def _use(table: Table, used: UsedTable) -> DrawnUse:
    drawn = table.drawn
    assert drawn
    quality = [column for column in drawn.columns if column.name in used.columns]
    with _opened(table) as db:
        marks = ", ".join("?" * len(quality))
        bad = f"FROM _cells WHERE status IN ('unverified', 'conflict') AND \"column\" IN ({marks})"
        names = [column.name for column in quality]
        count = db.execute(f"SELECT count(*) {bad}", names).fetchone()[0]
        listed = [_cell(row) for row in db.execute(f"SELECT {_FIELDS} {bad} ORDER BY rowid LIMIT {_DOUBTFUL}", names)]
    return DrawnUse(
        table=table.name,
        paths=drawn.paths,
        key=drawn.key,
        records=drawn.records,
        perfect=drawn.perfect,
        database=drawn.database.sha256,
        columns=tuple(DrawnColumn(**column.model_dump(include=set(DrawnColumn.model_fields))) for column in quality),
        doubtful=tuple(listed),
        doubtful_all=count,
        notes=drawn.notes,
    )


def _bad(column: DrawnColumn) -> list[tuple[str, int]]:
    return [(s, n) for s, n in (("unverified", column.unverified), ("in conflict", column.conflict)) if n]


def _cells(table: Table, columns: Sequence[str], records: set[str]) -> Iterator[DocumentCell]:
    wanted = sorted(records)
    with _opened(table) as db:
        for start in range(0, len(wanted), _RECORDS):
            some = wanted[start : start + _RECORDS]
            ones, others = ", ".join("?" * len(columns)), ", ".join("?" * len(some))
            sql = f'SELECT {_FIELDS} FROM _cells WHERE "column" IN ({ones}) AND record IN ({others}) ORDER BY rowid'
            yield from map(_cell, db.execute(sql, [*columns, *some]))


def _cell(row: tuple[str | int | float | None, ...]) -> DocumentCell:
    record, column, value, raw, quote, path, line, page, status, note = row
    return DocumentCell(
        record=str(record),
        column=str(column),
        value="" if value is None else str(value),
        raw=str(raw or ""),
        quote=str(quote or ""),
        path=str(path or ""),
        line=int(line or 0),
        page=int(page or 0),
        status=str(status),  # type: ignore[arg-type]
        note=str(note or ""),
    )


@contextlib.contextmanager
def _opened(table: Table) -> Iterator[sqlite3.Connection]:
    assert table.drawn
    path = stores.current().local(table.drawn.database)
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        yield db
