"""Columns, metrics and values → one SQLite file with full-text indexes over our own words, and the values by their folded text.

SQLite's tokenizers do not know Chinese, so it gets words that are already cut, with blanks between them. Equal additions
in equal order give equal bytes. A value is kept once, with the columns that hold it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from tasks.core.search.words import fold, terms

Kind = Literal["column", "metric"]
_CACHE_KB = 16_384
_SCHEMA = """
CREATE TABLE column_entry (row INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE);
CREATE TABLE metric_entry (row INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE);
CREATE TABLE value_entry (row INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE, folded TEXT NOT NULL);
CREATE TABLE place (value INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (value, entry)) WITHOUT ROWID;
CREATE VIRTUAL TABLE column_words USING fts5(name, alias, told, around, content='', tokenize='ascii');
CREATE VIRTUAL TABLE metric_words USING fts5(name, alias, told, around, content='', tokenize='ascii');
CREATE VIRTUAL TABLE value_words USING fts5(value, content='', tokenize='ascii');
CREATE VIRTUAL TABLE column_spread USING fts5vocab(column_words, row);
CREATE VIRTUAL TABLE metric_spread USING fts5vocab(metric_words, row);
CREATE VIRTUAL TABLE value_spread USING fts5vocab(value_words, row);
"""
"""`tokenize='ascii'` parts at blanks and leaves every other sign alone, for our words hold no ASCII signs."""


@dataclass(frozen=True)
class Texts:
    """What is said of a column or metric, from what counts most to least."""

    name: str
    alias: str = ""
    told: str = ""
    around: str = ""
    """Of what it stands in: the table, the formula."""


class Writer:
    """A new index file; use as a context manager. Memory stays bounded whatever is added."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._entries = {"column": 0, "metric": 0, "value": 0}

    def __enter__(self) -> Writer:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{_CACHE_KB}", "locking_mode=EXCLUSIVE"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._db.execute("CREATE INDEX by_folded ON value_entry (folded)")
            for name in ("column", "metric", "value"):
                self._db.execute(f"INSERT INTO {name}_words ({name}_words) VALUES ('optimize')")
            self._db.execute("COMMIT")
        self._db.close()

    @property
    def entries(self) -> int:
        """Columns, metrics and distinct values so far."""
        return sum(self._entries.values())

    def add(self, kind: Kind, ref: str, texts: Texts) -> None:
        """One column or metric, by an id that is not in the index yet."""
        self._entries[kind] += 1
        row = self._entries[kind]
        self._db.execute(f"INSERT INTO {kind}_entry VALUES (?, ?)", (row, ref))
        said = [" ".join(terms(text)) for text in (texts.name, texts.alias, texts.told, texts.around)]
        self._db.execute(
            f"INSERT INTO {kind}_words (rowid, name, alias, told, around) VALUES (?, ?, ?, ?, ?)", (row, *said)
        )

    def add_values(self, column: str, values: Iterable[str]) -> None:
        """Values of a column that was added before."""
        (entry,) = self._db.execute("SELECT row FROM column_entry WHERE ref = ?", (column,)).fetchone()
        for value in values:
            found = self._db.execute("SELECT row FROM value_entry WHERE value = ?", (value,)).fetchone()
            row = found[0] if found else self._new_value(value)
            self._db.execute("INSERT OR IGNORE INTO place VALUES (?, ?)", (row, entry))

    def _new_value(self, value: str) -> int:
        self._entries["value"] += 1
        row = self._entries["value"]
        self._db.execute("INSERT INTO value_entry VALUES (?, ?, ?)", (row, value, fold(value)))
        self._db.execute("INSERT INTO value_words (rowid, value) VALUES (?, ?)", (row, " ".join(terms(value))))
        return row
