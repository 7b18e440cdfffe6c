"""Merged cells + readings → `<stem>.sqlite`: the table `<stem>`, `_cells` with every cell's source, `_columns`.

Equal inputs give equal bytes: nothing in the file knows the time, and it is written in one fixed order.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from tasks.core.files import store as stores
from tasks.core.files.paths import file_name
from tasks.core.models.document import (
    ColumnQuality,
    ColumnReadings,
    ColumnType,
    Converted,
    DerivedTable,
    Merged,
    MergedCell,
    Place,
    Plain,
    Plan,
    Reading,
)
from tasks.core.sql.names import quote, unique_names
from tasks.document.storing import table
from tasks.document.storing.blanks import Blanks
from tasks.document.storing.settle import Settled, Statement, settle
from tasks.document.storing.table import Drawn
from tasks.stage import stage

_OWN = ("_cells", "_columns")
_SAID = {
    "unverified": "values that could not be read or look wrong",
    "conflict": "values that contradict each other",
    "unread": "cells that were not read, so that whether the text states them is not known",
}
_BLANK = "no value was named for any record, which does not show that the text states none"
_LEAST_FILLED = 0.5
"""Share of the asked cells that have a value, below which a table is imperfect, whatever the model says of its text: a
small model that leaves out what it does not find looks like a document that states little."""
_PLACES = TypeAdapter(tuple[Place, ...])


@stage()
async def store_table(
    document: Converted, plan: Plan, merged: Merged, readings: tuple[ColumnReadings, ...], good_share: float
) -> DerivedTable:
    """The document's table in the store, with counts of its cells by status; it never lies beside the inputs."""
    places = _PLACES.validate_json(stores.current().get(document.places)) if document.places else ()
    drawn = _draw(plan, merged, readings, Blanks(plan, merged, places))
    name = table_name(document.stem)
    with stores.current().scratch("table-") as folder:
        path = Path(folder) / "table.sqlite"
        _write(path, name, merged.records, drawn, places)
        database = stores.current().put_file(path, file_name(document.stem, ".sqlite"))
    filled, asked = _filled(drawn)
    enough = merged.sections_good >= good_share * merged.sections_all > 0
    columns = tuple(map(_quality, drawn))
    doubtful = sum(column.count(status) for column in drawn if column.stored for status in _SAID)
    blank = [column.name for column in columns if column.stored and column.blank]
    return DerivedTable(
        stem=document.stem,
        table=name,
        paths=document.paths,
        database=database,
        key=plan.key,
        records=len(merged.records),
        columns=columns,
        perfect=enough and not (doubtful or blank or plan.problems or _left_out(plan, merged)) and not _is_bare(drawn),
        asked=asked,
        filled=filled,
        notes=(
            *([f"{_BLANK}: {', '.join(blank)}"] if blank else []),
            *_notes(plan, merged, readings, drawn, good_share),
        ),
    )


def table_name(stem: str) -> str:
    """The stem, unless SQLite or this file uses that name itself."""
    taken = stem.casefold().startswith("sqlite_") or stem.casefold() in _OWN
    return f"table_{stem}" if taken or not stem else stem


def _draw(plan: Plan, merged: Merged, readings: tuple[ColumnReadings, ...], blanks: Blanks) -> tuple[Drawn, ...]:
    """The plan's columns with their cells, the key first."""
    cells = {(cell.record_id, cell.column): cell for cell in merged.cells}
    by_column = {r.column: r for r in readings}
    drawn = []
    for column in sorted(plan.columns, key=lambda column: column.name != plan.key):
        read = by_column.get(column.name)
        values = {reading.raw: reading for reading in read.readings} if read else {}
        found = ((record, cells.get((record, column.name))) for record in merged.records)
        if column.name == plan.key:
            settled = tuple(_key_cell(record, cell) for record, cell in found)
        else:
            kind: ColumnType = "text" if column.role == "noise" else column.type
            settled = tuple(
                blanks.told(record, column.name, settle(cell, values, kind) if cell else None) for record, cell in found
            )
        drawn.append(Drawn(column, settled, read.program if read else ""))
    return tuple(drawn)


def _key_cell(record: str, cell: MergedCell | None) -> Settled:
    """A record's id is text as it stands, whatever else was said about it."""
    if cell is None:
        return Settled(record, "unverified", "code did not find this id in the text")
    read = Reading(raw=record, value=record, status="verified")
    statements = tuple(Statement(s, read, "repeats" if i else "holds") for i, s in enumerate(cell.sources))
    return Settled(record, "verified", "", statements)


def _write(path: Path, name: str, records: Sequence[str], drawn: Sequence[Drawn], places: Sequence[Place]) -> None:
    stored = [column for column in drawn if column.stored]
    types = ["TEXT", *(table.declared(d.column.type, (c.value for c in d.cells)) for d in stored[1:])]
    names = unique_names([d.column.name for d in stored])
    fields = ", ".join(f"{quote(n)} {t}" for n, t in zip(names, types, strict=True))
    rows = (
        [table.stored_value(d.cells[i].value, t) for d, t in zip(stored, types, strict=True)]
        for i in range(len(records))
    )
    cells = (
        table.cell_row(record, d.column.name, d.cells[i], places) for i, record in enumerate(records) for d in drawn
    )
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("BEGIN")
        _fill(db, name, fields, rows)
        _fill(db, "_cells", table.CELLS, cells)
        _fill(db, "_columns", table.COLUMNS, (table.column_row(d) for d in drawn))
        db.execute("COMMIT")
        db.execute("VACUUM")


def _fill(db: sqlite3.Connection, name: str, fields: str, rows: Iterable[Sequence[Plain]]) -> None:
    db.execute(f"CREATE TABLE {quote(name)} ({fields})")
    width = len(db.execute(f"SELECT * FROM {quote(name)} LIMIT 0").description)
    db.executemany(f"INSERT INTO {quote(name)} VALUES ({', '.join('?' * width)})", rows)


def _quality(drawn: Drawn) -> ColumnQuality:
    column = drawn.column
    return ColumnQuality(
        name=column.name,
        type=column.type,
        unit=column.unit,
        meaning=column.task_meaning,
        verified=drawn.count("verified"),
        derived=drawn.count("derived"),
        unverified=drawn.count("unverified"),
        conflict=drawn.count("conflict"),
        missing=drawn.count("missing"),
        unread=drawn.count("unread"),
        unasked=drawn.unasked,
        stored=drawn.stored,
    )


def _filled(drawn: Sequence[Drawn]) -> tuple[int, int]:
    """Cells with a value, and all that the plan asked for: those of the table's columns beside the key."""
    cells = [cell for column in drawn if column.stored and column.column.role != "key" for cell in column.cells]
    return sum(cell.value is not None for cell in cells), len(cells)


def _is_bare(drawn: Sequence[Drawn]) -> bool:
    filled, asked = _filled(drawn)
    return filled < _LEAST_FILLED * asked


def _left_out(plan: Plan, merged: Merged) -> int:
    """Records of which no section was asked for: beyond `extract.max_records`, or named where no section speaks."""
    told = {cell.record_id for cell in merged.cells if cell.column != plan.key} | {
        record for record, _ in merged.unread
    }
    sections = {section for _, section in merged.unasked}
    asked = Counter(record for record, _ in merged.unasked if record not in told)
    return sum(count == len(sections) for count in asked.values())


def _notes(
    plan: Plan,
    merged: Merged,
    readings: tuple[ColumnReadings, ...],
    drawn: tuple[Drawn, ...],
    good_share: float,
) -> Iterator[str]:
    """What a user of the table must know; nothing that was dropped goes unsaid."""
    good, all_ = merged.sections_good, merged.sections_all
    if not good >= good_share * all_ > 0:
        yield f"imperfect: {good} of {all_} sections are good, {good_share:.0%} are wanted"
    if left := _left_out(plan, merged):
        yield f"nothing but the id of {left} of {len(merged.records)} records was read (extract.max_records = 0 reads all)"
    if _is_bare(drawn):
        filled, asked = _filled(drawn)
        yield f"imperfect: {filled} of {asked} cells that were asked for have a value"
    for status, what in _SAID.items():
        if names := [f"{d.column.name} ({d.count(status)})" for d in drawn if d.stored and d.count(status)]:
            yield f"{what}: {', '.join(names)}"
    if names := [d.column.name for d in drawn if not d.stored]:
        yield f"kept in _cells only: {', '.join(names)}"
    yield from plan.problems
    yield from merged.problems
    yield from (f"{read.column}: {problem}" for read in readings for problem in read.problems)
