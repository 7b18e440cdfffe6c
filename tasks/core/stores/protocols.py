"""What recall asks of a text index, a vector store and a metadata store, wherever they are; each is over one content.

A content is named by its digest. The embedded ones read its file; the others are filled from that file, once.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from tasks.core.search.index import Kind

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of `table_info`, `column_info`, `metric_info` and `column_metric`, in order."""


class TextIndex(Protocol):
    """Columns, metrics and values by their words."""

    def search(self, kind: Kind, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        """Ids with any of the words, and their BM25 score, best first."""

    def values(self, words: Collection[str], limit: int) -> list[tuple[str, float]]:
        """Values with any of the words, and their BM25 score, best first."""

    def folded(self, texts: Iterable[str]) -> list[str]:
        """Values whose folded text is one of these."""

    def places(self, value: str) -> list[str]:
        """Ids of the columns that hold a value."""

    def spread(self, kind: str, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """How many entries of the kind there are, and how many of them have each word; words of none are left out."""


class VectorStore(Protocol):
    """Rows of vectors."""

    def nearest(self, asked: Sequence[array[float]], rows: range, limit: int) -> list[tuple[int, float, int]]:
        """(row, cosine, index of the asked vector that is nearest), best first. ValueError for another length."""


class MetadataStore(Protocol):
    """The four tables of a catalogue's description."""

    def rows(self) -> Rows:
        """All of them."""


class Copy(Protocol):
    """A store that is not embedded."""

    def fill(self) -> bool:
        """Write the content unless it is there; whether it was written. Raises InputError."""
