"""An index file → all its entries with their words, for a copy elsewhere."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tasks.core.search.words import terms

FIELDS = ("name", "alias", "told", "around")


@dataclass(frozen=True)
class Entry:
    """A column, a metric or a value."""

    kind: str
    row: int
    """Its place among those of its kind, from 1."""
    ref: str
    """Its id, or the value."""
    said: dict[str, list[str]]
    """Words by field of `FIELDS`; those of a value are its name. Their order is lost."""
    folded: str = ""
    places: tuple[str, ...] = ()
    """Ids of the columns that hold a value."""


def entries(path: Path) -> Iterator[Entry]:
    """Columns, metrics, then values. Words of all columns and metrics are held in memory, values pass by."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        for kind in ("column", "metric"):
            said = _words(db, kind)
            for row, ref in db.execute(f"SELECT row, ref FROM {kind}_entry ORDER BY row"):
                yield Entry(kind, row, ref, said.get(row, {}))
        for row, value, folded, places in db.execute(
            "SELECT v.row, v.value, v.folded, (SELECT json_group_array(ref) FROM (SELECT c.ref FROM place p "
            "JOIN column_entry c ON c.row = p.entry WHERE p.value = v.row ORDER BY c.row)) FROM value_entry v ORDER BY v.row"
        ):
            yield Entry("value", row, value, {"name": [*terms(value)]}, folded, tuple(json.loads(places)))


def _words(db: sqlite3.Connection, kind: str) -> dict[int, dict[str, list[str]]]:
    """The full-text index keeps no texts, but it lists where each word stands."""
    db.execute(f"CREATE VIRTUAL TABLE temp.{kind}_instance USING fts5vocab('main', '{kind}_words', 'instance')")
    found: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for term, row, field in db.execute(f"SELECT term, doc, col FROM temp.{kind}_instance"):
        found[row][field].append(term)
    return found
