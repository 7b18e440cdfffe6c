"""replayed answer + catalogue → its cells that stand in documents, each with its quote; only what code can show to be so."""

from __future__ import annotations

from tasks.core.errors import QueryError
from tasks.core.evidence import drawn
from tasks.core.evidence.keyed import keyed
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.evidence import AnswerCell, Outline
from tasks.core.sql.engine import Engine
from tasks.solve.publishing.replay import Replayed, by_value

_ROWS = 200
"""Longer answers are not followed cell by cell."""


async def follow_cells(
    replayed: Replayed, parts: Outline, catalogue: Catalogue, engine: Engine
) -> tuple[AnswerCell, ...]:
    """Cells of an answer of at most 200 rows that it takes over from derived tables.

    The query runs once more with the record behind each row; when its rows are not those of the answer, nothing is said.
    """
    replay = replayed.replay
    if replay.program or replay.rows > _ROWS or len(replayed.preview) < replay.rows:
        return ()
    found: list[AnswerCell] = []
    for name in parts.tables:
        table = catalogue.table(name)
        taken = keyed(replay.sql, table, catalogue) if table and table.drawn else None
        if table is None or taken is None:
            continue
        try:
            result = await engine.query(by_value(taken.sql) if replay.sorted else taken.sql, _ROWS)
        except QueryError:
            continue
        if tuple(tuple(row[:-1]) for row in result.rows) == tuple(tuple(row) for row in replayed.preview):
            found += drawn.follow(taken, result.rows, replay.columns, table)
    return tuple(sorted(found, key=lambda cell: (cell.row, replay.columns.index(cell.column))))
