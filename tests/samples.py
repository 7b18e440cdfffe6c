"""The bundled samples: their folders, the day they are asked on, and runs over their recorded replies."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "data" / "samples"
RECORDINGS = ROOT / "tests" / "recordings"
NAMES = tuple(sorted(path.parent.name for path in SAMPLES.glob("*/task.json")))
AS_OF = date(2026, 11, 30)
"""Part of every prompt, so part of every recording."""


def ask(name: str, profile: str, out: Path) -> Any:
    """Answer one sample by plain calls under a profile of the recordings folder; the ended run."""
    from flows.answer import answer
    from flows.running.request import AnswerRequest

    request = AnswerRequest(
        folder=str(SAMPLES / name), profile=str(RECORDINGS / f"{profile}.toml"), as_of=AS_OF, out=str(out)
    )
    return asyncio.run(answer(request))


def score(name: str, out: Path) -> float:
    """Score of the answer in `out` against the sample's gold."""
    from tasks.benchmark.score import score_pair

    return score_pair(out / "answer.csv", SAMPLES / "gold" / name / "gold.csv", 0.1).score
