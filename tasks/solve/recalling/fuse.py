"""Hits by words + hits by vectors → one ranking by reciprocal rank, which needs no common scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.core.models.context import Hit

_FLAT = 60
"""The usual constant: how little the first places stand out."""


def fuse(lexical: Sequence[Hit], near: Mapping[str, tuple[float, str]], limit: int) -> tuple[Hit, ...]:
    """Hits of both, best first; `near` has cosine and text by id, best first."""
    by_words = {hit.id: hit for hit in lexical}
    ranks: dict[str, float] = {}
    for ids in (by_words, near):
        for rank, id in enumerate(ids, start=1):
            ranks[id] = ranks.get(id, 0.0) + 1 / (_FLAT + rank)
    found = []
    for id in sorted(ranks, key=lambda id: -ranks[id])[:limit]:
        cosine, text = near.get(id, (0.0, ""))
        meant = f"near in meaning to {text[:60]!r} (cosine {cosine:.2f})"
        if id not in by_words:
            found.append(Hit(id=id, score=ranks[id], why="vector", reason=meant))
        elif id not in near:
            found.append(by_words[id].model_copy(update={"score": ranks[id]}))
        else:
            reason = f"{by_words[id].reason}; {meant}"
            found.append(Hit(id=id, score=ranks[id], why="fused", reason=reason))
    return tuple(found)
