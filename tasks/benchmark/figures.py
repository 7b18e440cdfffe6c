"""Parquet files of a run (and of another) → means, σ over repeats, sums by stage, and tasks that moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.benchmark.results import ask
from tasks.core.files.paths import natural
from tasks.core.models.benchmark import (
    Benchmark,
    Move,
    Paired,
    SetupScore,
    StageCost,
    StageScore,
    TaskScores,
    setup_name,
)

_SETUPS = """
WITH each AS (SELECT *, suite || '/' || task AS question FROM trials WHERE left_out = ''),
counted AS (
    SELECT * FROM each UNION ALL
    SELECT * REPLACE ('' AS suite, '' AS version) FROM each WHERE (SELECT count(DISTINCT suite) FROM each) > 1
),
means AS (SELECT suite, profile, model, repeat, avg(score) AS mean FROM counted GROUP BY ALL),
spread AS (SELECT suite, profile, model, stddev_samp(mean) AS sigma FROM means GROUP BY ALL)
SELECT suite, any_value(version), profile, model, count(DISTINCT question), count(DISTINCT repeat),
    avg((rows IS NOT NULL)::INT), avg(score), any_value(sigma), avg((score > 0.999)::INT), avg(seconds),
    avg(tokens_in + tokens_out), avg(calls), avg(paid), sum(money),
    count(*) FILTER (status = 'error'), coalesce(arg_min(reason, task) FILTER (status = 'error'), '')
FROM counted JOIN spread USING (suite, profile, model) GROUP BY suite, profile, model
"""
_FIELDS = ("suite", "version", "profile", "model", "tasks", "repeats", "answered", "score", "sigma", "perfect",
           "seconds", "tokens", "calls", "paid", "money", "errors", "error")  # fmt: skip
_TASKS = """
SELECT suite, task, profile, model, avg(score), stddev_samp(score), arg_min(status, repeat), arg_min(why, repeat),
    any_value(left_out)
FROM trials GROUP BY suite, task, profile, model
"""
_MEASURES = """
SELECT suite, profile, model, stage, metric, sum("right"), sum("of"), count(*)
FROM measures WHERE left_out = '' GROUP BY suite, profile, model, stage, metric
"""
_COSTS = """
SELECT stage, sum(seconds), sum(calls), sum(journaled), sum(tokens_in), sum(tokens_out), sum(money)
FROM costs GROUP BY stage ORDER BY sum(seconds) DESC, stage
"""
_SURE = """
SELECT profile, model, CASE WHEN sure THEN 'yes' ELSE 'no' END, count(*), sum((score > 0.999)::INT)
FROM trials WHERE left_out = '' AND sure IS NOT NULL GROUP BY ALL ORDER BY ALL DESC
"""
_MEANS = """
SELECT suite, task, profile, model, asked, gold, avg(score) FROM trials WHERE left_out = ''
GROUP BY suite, task, profile, model, asked, gold
"""


def take_figures(folder: Path, before: Path | None, order: Sequence[str]) -> Benchmark:
    """All figures of a run, setups in the given order; `before` is the run that it is held against."""
    place = {name: at for at, name in enumerate(order)}
    found = sorted(setups(folder), key=lambda s: (not s.suite, s.suite, place.get(s.setup, len(place))))
    return Benchmark(
        run=folder.name,
        folder=str(folder),
        setups=tuple(found),
        stages=tuple(sorted(stages(folder), key=lambda s: (s.suite, s.profile, s.model, s.stage, s.metric))),
        costs=costs(folder),
        tasks=tuple(sorted(tasks(folder), key=lambda t: (t.suite, natural(t.task), place.get(t.setup, len(place))))),
        sure=sure(folder),
        against=against(before, folder) if before else None,
        between=tuple(between(folder, order[0], other) for other in order[1:]),
    )


def setups(folder: Path) -> tuple[SetupScore, ...]:
    """Each suite under each setup, and all suites together where there are several, unordered."""
    return tuple(SetupScore(**dict(zip(_FIELDS, row, strict=True))) for row in ask([folder], _SETUPS)[1])


def tasks(folder: Path) -> tuple[TaskScores, ...]:
    """Each task under each setup, unordered."""
    names = ("suite", "task", "profile", "model", "score", "sigma", "status", "why", "left_out")
    return tuple(TaskScores(**dict(zip(names, row, strict=True))) for row in ask([folder], _TASKS)[1])


def stages(folder: Path) -> tuple[StageScore, ...]:
    """Each measure of each stage by suite and setup, unordered."""
    names = ("suite", "profile", "model", "stage", "metric", "right", "of", "trials")
    return tuple(StageScore(**dict(zip(names, row, strict=True))) for row in ask([folder], _MEASURES)[1])


def costs(folder: Path) -> tuple[StageCost, ...]:
    """What stages took over all trials, the longest first."""
    names = ("stage", "seconds", "calls", "journaled", "tokens_in", "tokens_out", "money")
    return tuple(StageCost(**dict(zip(names, row, strict=True))) for row in ask([folder], _COSTS)[1])


def sure(folder: Path) -> tuple[tuple[str, str, int, int], ...]:
    """How often samples agree under each setup, and how often the answer is then right."""
    return tuple((setup_name(p, m), yes, n, int(right)) for p, m, yes, n, right in ask([folder], _SURE)[1])


def against(before: Path, after: Path) -> Paired:
    """A run held against an earlier one: the same tasks under the same setups."""
    return pair((before.name, _means(before)), (after.name, _means(after)))


def between(folder: Path, first: str, other: str) -> Paired:
    """Two setups of one run, over the same tasks."""
    found = _means(folder)
    sides = {name: [(*row[:2], "", *row[3:]) for row in found if row[2] == name] for name in (first, other)}
    return pair((first, sides[first]), (other, sides[other]))


def pair(before: tuple[str, list[tuple[Any, ...]]], after: tuple[str, list[tuple[Any, ...]]]) -> Paired:
    """Each side is a name with rows of (suite, task, setup, task digest, gold digest, mean score)."""
    left, right = ({row[:5]: row[5] for row in rows} for _, rows in (before, after))
    shared = sorted(left.keys() & right.keys())
    moves = [
        Move(suite=key[0], task=key[1], setup=key[2], before=left[key], after=right[key])
        for key in shared
        if not math.isclose(left[key], right[key], abs_tol=1e-9)
    ]
    ups = sum(move.after > move.before for move in moves)
    return Paired(
        before=before[0],
        after=after[0],
        pairs=len(shared),
        unpaired=len({key[:3] for key in left.keys() ^ right.keys()}),
        difference=sum(right[key] - left[key] for key in shared) / max(len(shared), 1),
        moves=tuple(sorted(moves, key=lambda move: move.after - move.before)),
        p=sign_test(ups, len(moves) - ups),
    )


def sign_test(ups: int, downs: int) -> float:
    """Exact two-sided p of so many rises and falls, were each as likely as the other; what did not move tells nothing."""
    moved, fewer = ups + downs, min(ups, downs)
    tail = sum(math.comb(moved, k) for k in range(fewer + 1))
    return min(1.0, tail / 2 ** (moved - 1)) if moved else 1.0


def _means(folder: Path) -> list[tuple[Any, ...]]:
    rows: Sequence[tuple[Any, ...]] = ask([folder], _MEANS)[1]
    return [(suite, task, setup_name(p, m), asked, gold, mean) for suite, task, p, m, asked, gold, mean in rows]
