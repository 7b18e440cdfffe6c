"""trials + gold → the same trials with their scores: of the answer, and of every stage whose truth is known."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import ValidationError

from tasks.benchmark.score import score_pair
from tasks.benchmark.scoring.cells import read_table, score_cells
from tasks.benchmark.scoring.chosen import score_documents, score_tables, stems
from tasks.benchmark.scoring.traced import score_evidence, score_replay
from tasks.benchmark.scoring.truth import Truth, read_truth
from tasks.core.files.paths import file_name
from tasks.core.models.benchmark import Measure, Scored, Suite, Trial
from tasks.core.models.evidence import Evidence
from tasks.stage import stage


@stage(fresh=True)
async def score_trials(
    folder: str, suites: tuple[Suite, ...], trials: tuple[Trial, ...], penalty: float
) -> tuple[Scored, ...]:
    """Score every trial whose files lie below `folder`; gold is read here and nowhere before.

    A trial without a prediction scores 0. Raises InputError when gold cannot be used.
    """
    by_name = {suite.name: suite for suite in suites}
    return tuple(
        [await asyncio.to_thread(_score, Path(folder), by_name[trial.suite], trial, penalty) for trial in trials]
    )


def _score(folder: Path, suite: Suite, trial: Trial, penalty: float) -> Scored:
    place, gold = folder / trial.place, Path(suite.folder) / "gold" / trial.task
    judged = score_pair(place / "prediction.csv", gold / "gold.csv", penalty, trial.task)
    return Scored(
        **trial.model_dump(exclude={"stages"}),
        stages=trial.stages,
        score=judged.score,
        why=judged.reason,
        left_out=suite.disputed.get(trial.task, ""),
        measures=_summed(_measures(place, read_truth(gold))),
    )


def _measures(place: Path, truth: Truth | None) -> list[Measure]:
    evidence = _evidence(place)
    found = [*score_replay(evidence)] if evidence else []
    if truth is None:
        return found
    if truth.relevant_docs:
        found += score_documents(stems(place), truth)
    if evidence:
        found += score_tables(evidence, truth) if truth.relevant_tables else ()
        found += score_evidence(evidence, truth)
    for stem, table in truth.docs.items():
        found += score_cells(read_table(place / "derived" / file_name(stem, ".sqlite")), table)
    return found


def _summed(measures: list[Measure]) -> tuple[Measure, ...]:
    """One of each kind; those that no case applies to are left out."""
    sums: dict[tuple[str, str], tuple[float, float]] = {}
    for m in measures:
        right, of = sums.get((m.stage, m.metric), (0.0, 0.0))
        sums[m.stage, m.metric] = (right + m.right, of + m.of)
    return tuple(Measure(stage=s, metric=m, right=r, of=of) for (s, m), (r, of) in sums.items() if of)


def _evidence(place: Path) -> Evidence | None:
    """None where the run left none, or one of another form."""
    try:
        return Evidence.model_validate_json((place / "evidence.json").read_bytes())
    except (OSError, ValidationError):
        return None
