"""Keys in order → runs of keys, cut where the keys themselves say: a key put in or taken out moves only cuts near it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence


def chunks(
    keys: Sequence[str],
    most: int,
    joined: frozenset[int] = frozenset(),
    fits: Callable[[list[int]], bool] | None = None,
) -> list[list[int]]:
    """Positions of the keys in runs of at most `most`, usually at least two thirds of it.

    A run ends before the key of the smallest digest within reach; positions in `joined` start a run only where
    nothing else can. A run that does not fit is cut in two in the same way, so that its neighbours stay as they are.
    """
    runs, start = [], 0
    while start < len(keys):
        end = len(keys)
        if end - start > most:
            least, last = start + (2 * most + 1) // 3, min(start + most, max(len(keys) - most // 3, start + most // 2))
            end = _cut(keys, range(min(max(least, start + 1), last), last + 1), joined)
        runs += _fitting(keys, list(range(start, end)), joined, fits)
        start = end
    return runs


def _fitting(
    keys: Sequence[str], run: list[int], joined: frozenset[int], fits: Callable[[list[int]], bool] | None
) -> list[list[int]]:
    if len(run) < 2 or fits is None or fits(run):
        return [run]
    quarter = len(run) // 4
    at = _cut(keys, range(run[0] + max(1, quarter), run[-1] + 1 - quarter), joined)
    middle = at - run[0]
    return _fitting(keys, run[:middle], joined, fits) + _fitting(keys, run[middle:], joined, fits)


def _cut(keys: Sequence[str], places: range, joined: frozenset[int]) -> int:
    """The best place to start a run at, within these."""
    return min(places, key=lambda place: (place in joined, hashlib.sha256(keys[place].encode()).digest()))
