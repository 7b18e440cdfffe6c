"""The command that measures throughput measures what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from throughput import Measured, run
from world import ASKED


@pytest.mark.parametrize(
    ("places", "limit", "tasks", "ideal"),
    [(8, 8, 100, 13 * 20), (16, 16, 100, 7 * 20), (16, 8, 100, 63 * 4), (1, 4, 3, 3 * 20), (4, 1, 3, 15 * 4)],
)
def test_the_ideal_waits_for_the_model_alone(places: int, limit: int, tasks: int, ideal: float) -> None:
    found = Measured(places, limit, tasks, 5 * tasks, 4.0, ideal / 0.9, limit, 10.0, tasks)
    assert found.ideal == pytest.approx(ideal, rel=0.01) and found.efficiency == pytest.approx(0.9, rel=0.01)
    assert found.good and not found._replace(most=limit + 1).good and not found._replace(right=tasks - 1).good
    assert not found._replace(seconds=ideal / 0.8).good


@pytest.mark.slow
def test_more_tasks_than_requests_allowed_wait_for_their_turn(tmp_path: Path) -> None:
    found = run(tmp_path, (6, 2), 6, 0.5)
    assert (found.right, found.calls) == (6, 6 * ASKED) and 1 <= found.most <= 2
    assert found.seconds >= found.ideal
