"""Each tier of this machine, and the world outside of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import cage_of
from outside import Outside, outside

from tasks.core.sandbox.cage import Cage


@pytest.fixture(
    params=[
        "bubblewrap+seccomp",
        "landlock+seccomp",
        pytest.param("bubblewrap+seccomp/shared", marks=pytest.mark.slow),
        pytest.param("landlock+seccomp/shared", marks=pytest.mark.slow),
    ]
)
def cage(request: pytest.FixtureRequest) -> Cage:
    """Each tier of this machine in turn, forced here only: the product takes the strongest."""
    found = cage_of(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Outside]:
    """A world with its own temporary folder, in which this process inherits every orphan."""
    with outside(tmp_path) as made:
        yield made
