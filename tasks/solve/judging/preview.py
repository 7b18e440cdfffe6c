"""tables + engine → what the vote sees of each: its columns, its first rows, or why one of them is not to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.errors import QueryError
from tasks.core.llm import tokens
from tasks.core.models.catalogue import Table
from tasks.core.models.value import Cell
from tasks.core.sections import RelevanceSettings
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote
from tasks.solve.showing.layout import one_line

_NAME_CHARS = 200
Described = list[tuple[Cell, ...]]


@dataclass(frozen=True)
class Preview:
    """A table as the prompt shows it."""

    name: str
    origin: str
    text: str
    failed: bool = False
    """Its description or its rows could not be read."""


async def previews(tables: Sequence[Table], engine: Engine, settings: RelevanceSettings, room: int) -> list[Preview]:
    """One for each table, of at most about `room` tokens. All are read at once; only where that fails, one by one."""
    try:
        described = await _described(tables, engine)
    except QueryError:
        return [await _alone(table, engine, settings, room) for table in tables]
    try:
        rows = await _rows(tables, described, engine, settings)
    except QueryError:
        return [await _alone(table, engine, settings, room) for table in tables]
    return [_preview(*each, room) for each in zip(tables, described, rows, strict=True)]


async def _alone(table: Table, engine: Engine, settings: RelevanceSettings, room: int) -> Preview:
    try:
        (described,) = await _described([table], engine)
    except QueryError as error:
        return _preview(table, None, None, room, error.message)
    try:
        (rows,) = await _rows([table], [described], engine, settings)
    except QueryError as error:
        return _preview(table, described, None, room, error.message)
    return _preview(table, described, rows, room)


async def _described(tables: Sequence[Table], engine: Engine) -> list[Described]:
    """Rows of DESCRIBE: name and type first."""
    return await engine.measure([f"DESCRIBE {quote(table.name)}" for table in tables], engine.limits.seconds)


async def _rows(
    tables: Sequence[Table], described: Sequence[Described], engine: Engine, settings: RelevanceSettings
) -> list[list[tuple[Cell, ...]]]:
    """The first rows as text; a cell is cut in the database, one sign later than it is shown."""
    statements = []
    for table, columns in zip(tables, described, strict=True):
        cells = ", ".join(f"left({quote(str(c[0]))}::VARCHAR, {settings.cell_chars + 1})" for c in columns)
        statements.append(f"SELECT {cells} FROM {quote(table.name)} LIMIT {settings.sample_rows}")
    rows = await engine.measure(statements, engine.limits.seconds)
    return [[tuple(_cell(cell, settings.cell_chars) for cell in row) for row in found] for found in rows]


def _cell(cell: Cell, chars: int) -> str:
    return "NULL" if cell is None else one_line(str(cell), chars)


def _preview(
    table: Table, described: Described | None, rows: list[tuple[Cell, ...]] | None, room: int, error: str = ""
) -> Preview:
    name = "".join(sign if sign.isprintable() else " " for sign in table.name)
    head = f"table_name: {name}\n({table.rows} rows; {one_line(table.origin, _NAME_CHARS)})"
    why = one_line(error, _NAME_CHARS)
    if described is None:
        return Preview(table.name, table.origin, f"{head}\n(its columns could not be read: {why})", failed=True)
    columns = [f"{one_line(str(row[0]), _NAME_CHARS)} {row[1]}" for row in described]
    samples = [f"row {number}: {' | '.join(map(str, row))}" for number, row in enumerate(rows or (), 1)]
    if rows is None:
        samples = [f"(its rows could not be read: {why})"]
    text = "\n".join([head, f"columns: {', '.join(columns)}", *samples])
    if tokens.count(text) > room:
        text = f"{head}\ncolumns: {_cut(columns, room - tokens.count(head))}"
    return Preview(table.name, table.origin, text, failed=rows is None)


def _cut(columns: list[str], room: int) -> str:
    """As many columns as the room takes, the rest counted."""
    kept: list[str] = []
    for column in columns:
        room -= tokens.count(column) + 1
        if room < 0:
            break
        kept.append(column)
    left = len(columns) - len(kept)
    return ", ".join([*kept, *[f"and {left} more"] * bool(left)])
