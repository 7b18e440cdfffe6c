"""Qdrant + a file of vectors → the vectors on that server, one collection of its own for each content.

A URL `file:///folder` is the client's local mode, which needs no server and holds for one process at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tasks.core.stores.place import Place

_WHAT = "the vector store"
_LOCAL = "file://"
_AT_ONCE = 256
_EXTRA = "install the extra: pip install --no-deps -r requirements-stores.txt, or set stores.vectors to embedded"
_AWAY = "see whether the server runs, can be reached from here and takes the key, or set stores.vectors to embedded"


class Qdrant:
    """The vectors of one content. They are one long, so that the dot product is their cosine."""

    def __init__(self, place: Place, client: Any, content: tuple[Path, str]) -> None:
        import numpy as np

        self._place, self._client = place, client
        path, digest = content
        self._name = f"{place.prefix}-vectors-{digest[:40]}"
        self._stored = np.load(path, mmap_mode="r")

    def fill(self) -> bool:
        """Rows have fixed ids, so what was begun is completed; rows without direction are near nothing and left out."""
        from qdrant_client import models

        rows = [at for at, row in enumerate(self._stored) if row.any()]
        with _told(self._place):
            if not self._client.collection_exists(self._name):
                form = models.VectorParams(size=self._stored.shape[1], distance=models.Distance.DOT)
                self._client.create_collection(self._name, vectors_config=form)
            elif self._client.count(self._name, exact=True).count == len(rows):
                return False
            for start in range(0, len(rows), _AT_ONCE):
                some = rows[start : start + _AT_ONCE]
                batch = models.Batch(
                    ids=[*some], vectors=self._stored[some].tolist(), payloads=[{"row": row} for row in some]
                )
                self._client.upsert(self._name, points=batch, wait=True)
        return True

    def nearest(self, asked: Sequence[array[float]], rows: range, limit: int) -> list[tuple[int, float, int]]:
        """Exact, not approximate: names are few. Local mode is always exact, and warns when it is told so."""
        import numpy as np
        from qdrant_client import models

        wanted = np.asarray([np.asarray(vector, dtype=np.float32) for vector in asked])
        if wanted.shape[1] != self._stored.shape[1]:
            raise ValueError(f"the vectors have {self._stored.shape[1]} numbers, those asked for {wanted.shape[1]}")
        wanted = wanted / np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1e-12)
        within = models.Filter(
            must=[models.FieldCondition(key="row", range=models.Range(gte=rows.start, lt=rows.stop))]
        )
        exact = None if self._place.url.startswith(_LOCAL) else models.SearchParams(exact=True)
        requests = [
            models.QueryRequest(query=vector, filter=within, limit=limit, params=exact) for vector in wanted.tolist()
        ]
        with _told(self._place):
            answers = self._client.query_batch_points(self._name, requests) if rows else []
        best: dict[int, tuple[float, int]] = {}
        for which, answer in enumerate(answers):
            for point in answer.points:
                if point.score > max(best.get(point.id, (0.0, 0))[0], 0.0):
                    best[point.id] = (float(point.score), which)
        found = [(row, cosine, which) for row, (cosine, which) in best.items()]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]


@contextmanager
def connect(place: Place, content: tuple[Path, str]) -> Iterator[Qdrant]:
    """`content` is the file of vectors and its digest."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise place.failed(_WHAT, f"{error.name} is not installed", _EXTRA) from None
    with _told(place):
        if place.url.startswith(_LOCAL):
            client = QdrantClient(path=place.url.removeprefix(_LOCAL))
        else:
            seconds = max(1, int(place.seconds))
            client = QdrantClient(url=place.url, api_key=place.key or None, timeout=seconds, check_compatibility=False)
    try:
        yield Qdrant(place, client, content)
    finally:
        client.close()


@contextmanager
def _told(place: Place) -> Iterator[None]:
    import httpx
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except (ApiException, httpx.HTTPError, OSError, RuntimeError, ValueError) as error:
        raise place.failed(_WHAT, error, _AWAY) from None
