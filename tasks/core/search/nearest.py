"""A file of vectors, and vectors that are asked for → rows of the file, nearest first, by cosine. Read in pieces."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_ROWS = 8192


class Vectors:
    """A new file of vectors, one row after another; use `add`, then `close`. All have the first one's length."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path = path
        self._rows = rows
        self._at = 0
        self._file: Any = None

    def add(self, vectors: Iterable[array[float]]) -> None:
        """Append rows, each made one long. Raises ValueError for one of another length."""
        import numpy as np

        for vector in vectors:
            row = np.asarray(vector, dtype=np.float32)
            if self._file is None:
                shape = (self._rows, len(row))
                self._file = np.lib.format.open_memmap(self.path, mode="w+", dtype=np.float32, shape=shape)
            self._file[self._at] = row / (float(np.linalg.norm(row)) or 1.0)
            self._at += 1

    def close(self) -> None:
        """Write what is left."""
        if self._file is not None:
            self._file.flush()
            self._file = None


def nearest(path: Path, asked: Sequence[array[float]], rows: range, limit: int) -> list[tuple[int, float, int]]:
    """(row, cosine, index of the asked vector that is nearest) of the best among `rows`; none that points away.

    Raises ValueError when the file's vectors have another length.
    """
    import numpy as np

    stored = np.load(path, mmap_mode="r")
    wanted = np.asarray([np.asarray(vector, dtype=np.float32) for vector in asked])
    wanted = wanted / np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1e-12)
    best: list[tuple[int, float, int]] = []
    for start in range(rows.start, rows.stop, _ROWS):
        some = stored[start : min(start + _ROWS, rows.stop)] @ wanted.T
        which, cosine = some.argmax(axis=1), some.max(axis=1)
        order = np.argsort(-cosine, kind="stable")[:limit]
        best += [(start + int(at), float(cosine[at]), int(which[at])) for at in order if cosine[at] > 0]
    return sorted(best, key=lambda found: (-found[1], found[0]))[:limit]
