"""A table drawn from a document + its truth → cells right, found, wrong though `verified`, and lines that are right.

Columns are paired by name, else by the likest name or label; rows by their key. Numbers agree within a millionth,
dates as ISO days, texts after their blanks are made one. What has no counterpart is missing.
"""

from __future__ import annotations

import contextlib
import difflib
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tasks.benchmark.scoring.truth import TrueColumn, TrueTable
from tasks.core.models.benchmark import Measure
from tasks.core.models.value import Cell
from tasks.core.search.words import plain
from tasks.core.sql.names import quote

_NULL_WORDS = frozenset({"", "null", "none", "nan", "nat", "<na>", "n/a", "na", "nil", "-", "—", "无"})
_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d+)?")
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})([T ]00:00(:00(\.0+)?)?)?")
_LIKE = 0.72
"""Names that are less alike are those of different columns."""
_FIRST_TABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('_cells', '_columns')"


@dataclass
class Table:
    """A drawn table as its SQLite file holds it."""

    columns: list[str] = field(default_factory=list)
    rows: list[dict[str, Cell]] = field(default_factory=list)
    status: dict[tuple[str, str], str] = field(default_factory=dict)
    """(record, column) → status of the cell."""
    line: dict[tuple[str, str], int] = field(default_factory=dict)


def read_table(path: Path) -> Table:
    """The table of a file in `derived/`; an empty one where there is no file, or none that can be read."""
    if not path.is_file():
        return Table()
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            name = db.execute(_FIRST_TABLE).fetchone()[0]
            found = db.execute(f"SELECT * FROM {quote(name)}")
            columns = [column[0] for column in found.description]
            table = Table(columns, [dict(zip(columns, row, strict=True)) for row in found])
            for record, column, status, line in db.execute('SELECT record, "column", status, line FROM _cells'):
                table.status[record, column] = status
                if line is not None:
                    table.line[record, column] = line
            return table
    except (sqlite3.Error, TypeError):
        return Table()


def score_cells(table: Table, truth: TrueTable) -> tuple[Measure, ...]:
    """Precision, recall and accuracy of the cells, how many `verified` ones are right, and lines that are right."""
    names = pair_columns(table.columns, truth.columns)
    rows = {_key(row.get(names.get(truth.key, ""))): row for row in reversed(table.rows)}
    count: Counter[str] = Counter()
    count["given"] = sum(not is_null(row[name]) for row in table.rows for name in names.values())
    for record in truth.records:
        row = rows.get(_key(record.get(truth.key)))
        record_id = str(row[names[truth.key]]) if row else ""
        lines = truth.source_lines.get(str(record.get(truth.key)), {})
        for column, about in truth.columns.items():
            value, name = record.get(column), names.get(column)
            found = row.get(name) if row is not None and name else None
            there, wanted = not is_null(found), not is_null(value)
            right = there and wanted and same(found, value, about.type)
            count.update(wanted=wanted, all=1, right=right)
            count["agree"] += right or (row is not None and name is not None and not there and not wanted)
            cell = (record_id, name or "")
            if there and table.status.get(cell) == "verified":
                count.update(verified=1, verified_right=right)
            if there and column in lines and cell in table.line:
                away = abs(table.line[cell] - lines[column])
                count.update(traced=1, exact=away == 0, near=away <= 1)
    return _measures(count)


def _measures(count: Counter[str]) -> tuple[Measure, ...]:
    rows = (
        ("extraction", "precision", "right", "given"),
        ("extraction", "recall", "right", "wanted"),
        ("extraction", "accuracy", "agree", "all"),
        ("extraction", "verified and right", "verified_right", "verified"),
        ("evidence", "line exact", "exact", "traced"),
        ("evidence", "line within 1", "near", "traced"),
    )
    return tuple(Measure(stage=s, metric=m, right=count[right], of=count[of]) for s, m, right, of in rows)


def pair_columns(given: list[str], wanted: Mapping[str, TrueColumn]) -> dict[str, str]:
    """True column → column of the table, each used once, the likest pairs first."""
    likes = sorted(
        ((_alike(name, column, about), name, column) for name in given for column, about in wanted.items()),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    paired: dict[str, str] = {}
    for like, name, column in likes:
        if like >= _LIKE and column not in paired and name not in paired.values():
            paired[column] = name
    return paired


def is_null(value: Cell) -> bool:
    """Whether a cell says nothing."""
    if isinstance(value, str):
        return value.strip().casefold() in _NULL_WORDS
    return value is None or (isinstance(value, float) and math.isnan(value))


def same(found: Cell, value: Cell, kind: str) -> bool:
    """Whether two cells that are not empty say the same."""
    if kind in ("integer", "number"):
        left, right = _number(found), _number(value)
        return left is not None and right is not None and math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-12)
    if kind == "date":
        return _date(found) == _date(value)
    return _text(found) == _text(value)


def _alike(name: str, column: str, about: TrueColumn) -> float:
    wanted = plain(name)
    return max(difflib.SequenceMatcher(None, wanted, plain(text)).ratio() for text in (column, about.label or column))


def _key(value: Cell) -> str:
    text = _text(value).casefold()
    return text.lstrip("0") or text[:1]


def _number(value: Cell) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    text = str(value).strip()
    if not any(sign.isdigit() for sign in text) or not _NUMBER.fullmatch(text):
        return None
    return float(text.replace(",", ""))


def _date(value: Cell) -> str:
    text = _text(value)
    found = _DAY.fullmatch(text)
    return f"{int(found[1]):04}-{int(found[2]):02}-{int(found[3]):02}" if found else text


def _text(value: Cell) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).split())
