"""Words of an entry + how common they are → the BM25 score that SQLite gives it, so that all text indexes rank alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SATURATION, _LENGTH = 1.2, 0.75
"""The usual k1 and b, fixed in SQLite's FTS5."""
_LEAST = 1e-6
"""Worth of a word that most entries have."""


@dataclass(frozen=True)
class Scoring:
    """One search: its words in order, each with the entries that have it, and the size of what is searched."""

    spread: Mapping[str, int]
    rows: int
    length: float
    """Words of an entry, on average."""
    weights: Mapping[str, float]
    """By field."""

    def score(self, said: Mapping[str, Sequence[str]]) -> float:
        """Of an entry's words by field; the higher the better."""
        size = sum(map(len, said.values()))
        dampened = _SATURATION * (1 - _LENGTH + _LENGTH * size / self.length)
        total = 0.0
        for word, count in self.spread.items():
            often = sum(self.weights[field] * words.count(word) for field, words in said.items())
            worth = math.log((self.rows - count + 0.5) / (count + 0.5))
            total += (worth if worth > 0 else _LEAST) * often * (_SATURATION + 1) / (often + dampened)
        return total
