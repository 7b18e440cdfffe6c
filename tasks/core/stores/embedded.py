"""Files of the store → vectors and metadata as the protocols ask for them; the text index is `Lookup` itself."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tasks.core.search.nearest import nearest
from tasks.core.stores.protocols import Rows


class VectorFile:
    """A NumPy file of vectors."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def nearest(self, asked: Sequence[array[float]], rows: range, limit: int) -> list[tuple[int, float, int]]:
        """By comparing all of them."""
        return nearest(self._path, asked, rows, limit)


class MetadataFile:
    """The JSON of a description."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> Rows:
        """All of them."""
        return cast(Rows, json.loads(self._path.read_text("utf-8")))
