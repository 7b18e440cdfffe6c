"""What a run cost, in the line under its result."""

from __future__ import annotations

import pytest

from flows.cli.app import spent
from tasks.core.models.run import StageSpend


@pytest.mark.parametrize(
    ("total", "kept", "said"),
    [
        ({"calls": 2, "tokens_in": 10, "tokens_out": 5}, True, "2 model calls; 15 tokens"),
        ({"calls": 2, "journaled": 1}, True, "2 model calls and 1 from the journal; 0 tokens"),
        ({}, True, "no model was asked: read from an earlier run"),
        ({"journaled": 3}, True, "no model was asked: read from an earlier run (3 replies from the journal)"),
        ({}, False, "0 model calls; 0 tokens"),
    ],
)
def test_a_run_that_asked_nothing_says_that_it_read_an_earlier_one(
    total: dict[str, int], kept: bool, said: str
) -> None:
    assert spent(StageSpend(stage="total", **total), kept) == said
