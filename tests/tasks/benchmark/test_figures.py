"""Means, σ, sums and the sign test, against the same figures computed another way."""

from __future__ import annotations

import itertools
import random
import statistics
from pathlib import Path
from typing import Any

import pytest

from tasks.benchmark.figures import against, sign_test, take_figures
from tasks.benchmark.reporting.markdown import errors
from tasks.benchmark.results import ask, save
from tasks.core.errors import InputError
from tasks.core.models.benchmark import Measure, Scored, StageCost


def trial(task: str, score: float, repeat: int = 0, **more: Any) -> Scored:
    """A scored trial of which only what a test is about is given."""
    given = {"suite": "s", "asked": "a", "gold": "g", "profile": "default", "model": "", "status": "not_assessed"}
    filled = {**given, "reason": "", "rows": 1, "place": "", "why": "", **more}
    return Scored(task=task, score=score, repeat=repeat, **filled)


def by_enumeration(ups: int, downs: int) -> float:
    """Share of all ways in which as many signs could have fallen that are at least as lopsided."""
    ways = list(itertools.product((1, -1), repeat=ups + downs))
    return sum(abs(sum(way)) >= abs(ups - downs) for way in ways) / len(ways)


def test_the_sign_test_is_that_of_all_ways_the_signs_could_have_fallen() -> None:
    for ups in range(8):
        for downs in range(8):
            assert sign_test(ups, downs) == pytest.approx(by_enumeration(ups, downs)), (ups, downs)
    assert sign_test(9, 1) == pytest.approx(0.021484375)  # as tables of the sign test have it
    assert sign_test(0, 0) == 1 and sign_test(400, 600) == pytest.approx(2.73e-10, rel=0.01)


def test_sigma_is_the_sample_standard_deviation_of_the_repeats_means(tmp_path: Path) -> None:
    dice = random.Random(7)
    scores = {(suite, f"任务_{t}", r): dice.random() for suite in ("s", "另") for t in range(5) for r in range(4)}
    trials = [trial(task, value, r, suite=suite) for (suite, task, r), value in scores.items()]
    save(
        tmp_path, "run", [*trials, trial("bad", 1.0, left_out="its gold is wrong"), trial("bad", 0.0, 1, left_out="so")]
    )
    found = take_figures(tmp_path, None, ["default"])
    assert [(s.suite, s.tasks, s.repeats) for s in found.setups] == [("s", 5, 4), ("另", 5, 4), ("", 10, 4)]
    for setup in found.setups:
        part = {key: value for key, value in scores.items() if setup.suite in ("", key[0])}
        means = [statistics.fmean(v for k, v in part.items() if k[2] == r) for r in range(4)]
        assert setup.score == pytest.approx(statistics.fmean(part.values()))
        assert setup.sigma == pytest.approx(statistics.stdev(means))
    task = next(t for t in found.tasks if (t.suite, t.task) == ("另", "任务_3"))
    values = [scores["另", "任务_3", r] for r in range(4)]
    assert (task.score, task.sigma) == (
        pytest.approx(statistics.fmean(values)),
        pytest.approx(statistics.stdev(values)),
    )
    assert next(t.left_out for t in found.tasks if t.task == "bad")


def test_one_repeat_has_no_sigma_and_a_failed_task_counts_as_zero(tmp_path: Path) -> None:
    save(
        tmp_path, "run", [trial("a", 1.0, seconds=3.0, calls=4, paid=1, money=0.5), trial("b", 0.0, rows=None, calls=2)]
    )
    (found,) = take_figures(tmp_path, None, ["default"]).setups
    assert (found.sigma, found.score, found.answered, found.perfect) == (None, 0.5, 0.5, 0.5)
    assert (found.seconds, found.calls, found.paid, found.money) == (1.5, 3.0, 0.5, 0.5)


def test_trials_that_an_error_ended_are_counted_and_said(tmp_path: Path) -> None:
    broken = {"status": "error", "rows": None}
    trials = [trial("b", 0.0, reason="磁盘已满", **broken), trial("c", 0.0, reason="later", **broken), trial("a", 1.0)]
    save(tmp_path, "run", trials)
    found = take_figures(tmp_path, None, ["default"])
    assert (found.setups[0].errors, found.setups[0].error) == (2, "磁盘已满")
    assert errors(found) == ["2 trials of s under default ended by an error and count as 0; the first: 磁盘已满"]


def test_measures_and_costs_of_stages_are_summed(tmp_path: Path) -> None:
    cells = [Measure(stage="extraction", metric="recall", right=right, of=10) for right in (9, 4)]
    times = [StageCost(stage="publish", seconds=1.5, calls=2), StageCost(stage="solve", seconds=4.0, tokens_in=7)]
    trials = [trial("a", 1.0, measures=cells[:1], stages=times), trial("b", 1.0, measures=cells[1:], stages=times[:1])]
    save(tmp_path, "run", [*trials, trial("c", 1.0, measures=cells, left_out="disputed")])
    found = take_figures(tmp_path, None, ["default"])
    assert [(s.stage, s.metric, s.right, s.of, s.trials) for s in found.stages] == [("extraction", "recall", 13, 20, 2)]
    assert [(c.stage, c.seconds, c.calls, c.tokens_in) for c in found.costs] == [
        ("solve", 4.0, 0, 7),
        ("publish", 3.0, 4, 0),
    ]


def test_runs_are_compared_over_the_tasks_that_are_the_same_on_both_sides(tmp_path: Path) -> None:
    old = [
        trial("rose", 0.0),
        trial("fell", 1.0),
        trial("same", 0.5),
        trial("changed", 1.0, gold="x"),
        trial("gone", 1.0),
    ]
    new = [
        trial("rose", 1.0),
        trial("fell", 0.25),
        trial("same", 0.5),
        trial("changed", 0.0, gold="y"),
        trial("new", 1.0),
    ]
    new += [trial("disputed", 0.0, left_out="why")]
    old += [trial("disputed", 1.0), *(trial(f"t{n}", 0.0) for n in range(8))]
    new += [trial(f"t{n}", 1.0) for n in range(8)]
    for name, trials in (("old", old), ("new", new)):
        save(tmp_path / name, name, trials)
    found = against(tmp_path / "old", tmp_path / "new")
    assert (found.pairs, found.up, found.down, found.unpaired) == (11, 9, 1, 4)
    assert found.p == pytest.approx(by_enumeration(9, 1)) and found.difference == pytest.approx((9 - 0.75) / 11)
    assert found.moves[0].task == "fell" and not found.worse
    assert against(tmp_path / "new", tmp_path / "old").worse


def test_setups_are_compared_over_the_same_tasks(tmp_path: Path) -> None:
    trials = [trial("a", 0.0, profile="bare"), trial("b", 1.0, profile="bare"), trial("a", 1.0), trial("b", 1.0)]
    save(tmp_path, "run", trials)
    (found,) = take_figures(tmp_path, None, ["bare", "default"]).between
    assert (found.before, found.after, found.pairs, found.up, found.down) == ("bare", "default", 2, 1, 0)
    assert found.difference == 0.5 and found.moves[0].setup == ""


def test_several_runs_are_asked_at_once_and_no_other_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(tmp_path / name, name, [trial("a", 1.0)])
    folders = [tmp_path / "one", tmp_path / "two"]
    assert ask(folders, "SELECT run, count(*) FROM trials GROUP BY run ORDER BY run")[1] == [("one", 1), ("two", 1)]
    with pytest.raises(InputError, match="the query does not run"):
        ask(folders, f"SELECT * FROM read_parquet('{tmp_path / 'one' / 'trials.parquet'}')")
    with pytest.raises(InputError, match="no run"):
        ask([], "SELECT 1")
