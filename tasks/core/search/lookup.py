"""An index file + words → its columns, metrics and values, best first, by BM25; and values by their folded text."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType

from tasks.core.search.index import Kind

WEIGHTS = (6.0, 5.0, 2.0, 1.0)
"""Of name, alias, description and surroundings."""
_COMMON_SHARE, _COMMON_ROWS = 0.1, 2000
"""A word in more entries than both says little and costs much: it is looked for only where nothing else is."""
_AT_ONCE = 500


class Lookup:
    """An index file, read-only; use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)

    def __enter__(self) -> Lookup:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def search(self, kind: Kind, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        """Ids of columns or metrics with any of the words, and their BM25 score: the higher the better."""
        query = self._query(kind, words)
        if not query:
            return []
        rank = f"-bm25({kind}_words, {', '.join(map(str, WEIGHTS))})"
        return self._db.execute(
            f"SELECT e.ref, f.score FROM (SELECT rowid AS row, {rank} AS score FROM {kind}_words "
            f"WHERE {kind}_words MATCH ? ORDER BY score DESC, rowid LIMIT ?) f JOIN {kind}_entry e USING (row) "
            "ORDER BY f.score DESC, row",
            (query, limit),
        ).fetchall()

    def values(self, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        """Values with any of the words, as they stand in their columns, and their BM25 score."""
        query = self._query("value", words)
        if not query:
            return []
        return self._db.execute(
            "SELECT e.value, f.score FROM (SELECT rowid AS row, -bm25(value_words) AS score FROM value_words "
            "WHERE value_words MATCH ? ORDER BY score DESC, rowid LIMIT ?) f JOIN value_entry e USING (row) "
            "ORDER BY f.score DESC, row",
            (query, limit),
        ).fetchall()

    def folded(self, texts: Iterable[str]) -> list[str]:
        """Values whose folded text is one of these."""
        wanted = list(dict.fromkeys(texts))
        found: list[str] = []
        for at in range(0, len(wanted), _AT_ONCE):
            some = wanted[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._db.execute(f"SELECT value FROM value_entry WHERE folded IN ({marks}) ORDER BY row", some)
            found += [value for (value,) in rows]
        return found

    def places(self, value: str) -> list[str]:
        """Ids of the columns that hold a value."""
        rows = self._db.execute(
            "SELECT c.ref FROM value_entry v JOIN place p ON p.value = v.row JOIN column_entry c ON c.row = p.entry "
            "WHERE v.value = ? ORDER BY c.row",
            (value,),
        )
        return [ref for (ref,) in rows]

    def spread(self, kind: str, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """How many entries of the kind there are, and how many of them have each word; words of none are left out."""
        (rows,) = self._db.execute(f"SELECT count(*) FROM {kind}_entry").fetchone()
        found = {}
        for word in dict.fromkeys(words):
            row = self._db.execute(f"SELECT doc FROM {kind}_spread WHERE term = ?", (word,)).fetchone()
            if row:
                found[word] = row[0]
        return rows, found

    def _query(self, kind: str, words: Collection[str]) -> str:
        """The words as a full-text query; those that the index lacks are left out, very common ones where others remain."""
        return " OR ".join(f'"{word}"' for word in telling(*self.spread(kind, words)))


def telling(rows: int, spread: Mapping[str, int]) -> list[str]:
    """Of words with the number of entries that have them, out of `rows`, those to look for."""
    most = max(_COMMON_ROWS, rows * _COMMON_SHARE)
    return sorted(word for word, count in spread.items() if count <= most) or sorted(spread)
