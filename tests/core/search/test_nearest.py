"""Vectors in a file, and the nearest of them by cosine."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from tasks.core.search.nearest import Vectors, nearest

ROWS = [(3.0, 0.0), (0.0, 2.0), (1.0, 1.0), (-1.0, 0.0), (0.0, 0.0)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = Vectors(tmp_path / "v.npy", len(ROWS))
    file.add(array("f", row) for row in ROWS)
    file.close()
    return tmp_path / "v.npy"


def test_nearest_are_by_angle_whatever_the_length(path: Path) -> None:
    found = nearest(path, [array("f", (5.0, 0.5)), array("f", (0.0, 9.0))], range(5), 3)
    assert [(row, which) for row, _, which in found] == [(1, 1), (0, 0), (2, 0)]
    assert found[0][1] == pytest.approx(1.0)


def test_only_the_asked_rows_are_looked_at(path: Path) -> None:
    assert [row for row, _, _ in nearest(path, [array("f", (1.0, 0.0))], range(2, 5), 9)] == [2]
    assert nearest(path, [array("f", (1.0, 0.0))], range(5, 5), 9) == []


def test_vectors_of_another_length_are_refused(path: Path) -> None:
    with pytest.raises(ValueError):
        nearest(path, [array("f", (1.0, 0.0, 0.0))], range(5), 3)
