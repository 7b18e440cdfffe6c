"""Findings → one self-contained HTML page: each file, what it became and why, its first rows, its problems."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from flows.inspect import Findings, Sample
from tasks.core.files.template import environment
from tasks.core.models.catalogue import Table
from tasks.core.models.value import Cell

_FOLDER = Path(__file__).resolve().parent
_STYLE = _FOLDER.parents[1] / "tasks" / "solve" / "publishing" / "report" / "page.css"
_CELL_CHARS = 200
_COLUMNS = 60
"""Columns of one table in the page; the others are counted."""
_PLURAL = {"table": "tables", "document": "documents"}
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,:/ e+-]{0,40}")
"""Numbers, days and times, which shall stand on one line."""


def render(found: Findings, title: str) -> str:
    """The page; it asks nothing of the network and runs no script."""
    outcomes = Counter(file.outcome for file in found.catalogue.files)
    return (
        environment(_FOLDER)
        .get_template("inspect.html")
        .render(
            title=title,
            style=_STYLE.read_text("utf-8"),
            problems=len(found.problems),
            outcomes=[
                (_PLURAL.get(name, name) if count > 1 else name, count) for name, count in outcomes.most_common()
            ],
            files=_files(found),
        )
    )


def _files(found: Findings) -> list[dict[str, Any]]:
    remarks, tables = defaultdict(list), defaultdict(list)
    samples, roles = {sample.table: sample for sample in found.samples}, found.roles
    for remark in found.remarks:
        remarks[remark.path].append(remark)
    for table in found.catalogue.tables:
        tables[table.path].append(_table(table, samples.get(table.name), roles))
    return [
        {**dict(file), "remarks": remarks[file.path], "tables": tables[file.path]} for file in found.catalogue.files
    ]


def _table(table: Table, sample: Sample | None, roles: dict[tuple[str, str], str]) -> dict[str, Any]:
    return {
        "name": table.name,
        "rows": table.rows,
        "inner": table.inner,
        "columns": [
            (each.name, each.type, roles.get((table.name, each.name), "")) for each in table.columns[:_COLUMNS]
        ],
        "more": max(0, len(table.columns) - _COLUMNS),
        "sample": [[_cell(cell) for cell in row[:_COLUMNS]] for row in (sample.rows if sample else ())],
    }


def _cell(cell: Cell) -> dict[str, Any] | None:
    if cell is None:
        return None
    text = str(cell).lower() if isinstance(cell, bool) else str(cell)
    short = text if len(text) <= _CELL_CHARS else text[:_CELL_CHARS] + " …"
    return {"text": short, "number": bool(_NUMBER.fullmatch(text))}
