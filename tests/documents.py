"""Document tasks with gold, kept with the tests: their folders, and runs over recorded replies."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from samples import AS_OF, RECORDINGS

CASES = Path(__file__).resolve().parent / "cases" / "documents"
NAMES = tuple(sorted(path.parent.name for path in CASES.glob("*/task.json")))


def ask(name: str, profile: str, out: Path) -> Any:
    """Answer one task by plain calls under a profile of the recordings folder; the ended run."""
    from flows.answer import answer
    from flows.running.request import AnswerRequest

    request = AnswerRequest(
        folder=str(CASES / name), profile=str(RECORDINGS / f"{profile}.toml"), as_of=AS_OF, out=str(out)
    )
    return asyncio.run(answer(request))


def score(name: str, out: Path) -> float:
    """Score of the answer in `out` against the task's gold."""
    from tasks.benchmark.score import score_pair

    return score_pair(out / "answer.csv", CASES / name / "gold.csv", 0.1).score
