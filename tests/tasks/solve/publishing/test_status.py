"""How far an answer may be trusted, in one word and one sentence."""

from __future__ import annotations

from typing import Any

import pytest
from publishing import attempt

from tasks.core.models.answer import Attempt, Candidate, Submission
from tasks.core.models.evidence import Replay
from tasks.solve.publishing.status import judge

EQUAL = Replay(sql="select", expected="d", digest="d", rows=3)
GOOD = "replayed and equal; not audited by validators yet"


def tried(votes: int = 1, **changes: Any) -> Attempt:
    return attempt(Candidate(submission=Submission(sql="select"), digest="d", votes=votes), **changes)


@pytest.mark.parametrize(
    ("made", "replay", "status", "reason"),
    [
        (tried(), EQUAL, "not_assessed", GOOD),
        (tried(3, style="single", samples=5), EQUAL, "not_assessed", GOOD),
        (tried(2, style="single", samples=5), EQUAL, "partial", "replayed and equal, but only 2 of 5 samples agree on it"),
        (tried(ended="budget"), EQUAL, "partial", "replayed and equal, but the budget ran out before the solver was done"),
        (tried(ended="turns"), EQUAL, "partial", "replayed and equal, but the solver ran out of turns before it handed in an answer"),
        (tried(ended="model_error"), EQUAL, "partial", "replayed and equal, but the model stopped giving usable replies"),
        (tried(ended="loop"), EQUAL, "partial", "replayed and equal, but the solver went round in circles and was stopped"),
        (
            tried(1, style="single", samples=5, ended="budget"),
            EQUAL.model_copy(update={"truncated": True}),
            "partial",
            "replayed and equal, but the budget ran out before the solver was done; only 1 of 5 samples agree on it; "
            "only the first 3 rows could be kept",
        ),
        (tried(ended="budget"), EQUAL.model_copy(update={"error": "gone"}), "rejected", "gone; the answer is withheld"),
        (attempt(ended="no_query"), None, "failed", "the model gave no query that runs"),
        (attempt(ended="model_error", problems=("no reply",)), None, "failed", "the model stopped giving usable replies (no reply)"),
        (attempt(ended="submitted"), None, "failed", "the solver handed in nothing that runs"),
        (
            tried(ended="no_query").model_copy(
                update={"chosen": None, "candidates": (Candidate(submission=Submission(sql="x"), error="no column x\nmore"),)}
            ),
            None,
            "failed",
            "the model gave no query that runs (no column x)",
        ),
    ],
)  # fmt: skip
def test_the_status_follows_from_replay_and_attempt(
    made: Attempt, replay: Replay | None, status: str, reason: str
) -> None:
    assert judge(made, replay, confident_share=0.6) == (status, reason)
