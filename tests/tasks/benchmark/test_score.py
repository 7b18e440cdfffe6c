"""The DataAgent-Bench rule: cases in files, and what must hold for any table."""

from __future__ import annotations

import csv
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.benchmark.score import normalise, score
from tasks.core.errors import InputError
from tasks.core.models.score import SuiteScore

CASES = Path(__file__).parents[2] / "cases" / "score"
Table = list[list[str]]


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted(CASES.glob("*.toml"))
        for case in tomllib.loads(path.read_text("utf-8"))["case"]
    ]


@pytest.mark.parametrize("case", cases())
def test_a_prediction_gets_the_score_of_its_case(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "prediction.csv").write_text(case["prediction"], "utf-8")
    (tmp_path / "gold.csv").write_text(case["gold"], "utf-8")

    (result,) = score(tmp_path / "prediction.csv", tmp_path / "gold.csv").tasks

    assert result.score == pytest.approx(case["score"])
    assert result.matched == tuple(case.get("matched", ()))
    assert result.missing == tuple(case.get("missing", ()))
    assert result.extras == tuple(case.get("extras", ()))
    assert result.reason == case.get("reason", result.reason)


def test_a_suite_is_scored_task_by_task_and_a_missing_prediction_counts_as_zero(tmp_path: Path) -> None:
    for name in ("task_2", "task_10", "诊所", "task_1"):
        gold = tmp_path / "gold" / name / "gold.csv"
        gold.parent.mkdir(parents=True)
        gold.write_text(f"x\n{name.removeprefix('task_')}\n", "utf-8")
    for number, text in ((1, "x\n1\n"), (2, "x,y\n2,7\n")):
        prediction = tmp_path / "out" / f"task_{number}" / "prediction.csv"
        prediction.parent.mkdir(parents=True)
        prediction.write_text(text, "utf-8")

    suite = score(tmp_path / "out", tmp_path / "gold", penalty=0.5)

    assert [(t.task, t.score, t.perfect) for t in suite.tasks] == [
        ("task_1", 1.0, True),
        ("task_2", 0.75, False),
        ("task_10", 0.0, False),
        ("诊所", 0.0, False),
    ]
    assert suite.tasks[2].reason == "no prediction.csv"
    assert suite.mean == pytest.approx(1.75 / 4)
    assert SuiteScore.model_validate_json(suite.model_dump_json()) == suite


def test_an_unreadable_prediction_scores_zero_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b"x\n\xff\xfe\n")
    (tmp_path / "g.csv").write_text("x\n1\n", "utf-8")

    (result,) = score(tmp_path / "p.csv", tmp_path / "g.csv").tasks

    assert result.score == 0.0
    assert "cannot be read" in result.reason


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("x\n1\n", "utf-8")
    (tmp_path / "g.csv").write_text("﻿城市\n1\n", "utf-8")

    assert score(tmp_path / "p.csv", tmp_path / "g.csv").tasks[0].matched == ("城市",)


@pytest.mark.parametrize("text", ["", None])
def test_no_gold_is_the_callers_error(text: str | None, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    (tmp_path / "p.csv").write_text("n\n1\n", "utf-8")
    if text is not None:
        gold.write_text(text, "utf-8")

    with pytest.raises(InputError, match="gold"):
        score(tmp_path / "p.csv", gold)


@given(st.text())
def test_a_normal_cell_stays_as_it_is(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


CELLS = st.sampled_from(["Oslo", "Turin", "杭州", "7", "7.25", "2024-03-05", "-1"])
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(TABLES, st.randoms(use_true_random=False))
def test_order_and_names_of_columns_and_order_of_rows_do_not_count(table: Table, rng: random.Random) -> None:
    order = rng.sample(range(len(table[0])), len(table[0]))
    shuffled = [[row[i] for i in order] for row in rng.sample(table, len(table))]

    assert _score(shuffled, table) == 1.0


@given(TABLES, st.floats(0.01, 1))
def test_a_surplus_column_costs_its_share(table: Table, penalty: float) -> None:
    wider = [[*row, "surplus"] for row in table]

    assert _score(wider, table, penalty) == pytest.approx(1 - penalty / len(wider[0]))


@given(TABLES)
def test_a_gold_column_that_is_missing_costs_its_share(table: Table) -> None:
    wider = [[*row, "wanted"] for row in table]

    assert _score(table, wider) == pytest.approx(len(table[0]) / len(wider[0]))


@given(TABLES, TABLES, st.floats(0, 1))
def test_a_score_is_a_share(prediction: Table, gold: Table, penalty: float) -> None:
    assert 0.0 <= _score(prediction, gold, penalty) <= 1.0


_FOLDER: list[Path] = []


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    _FOLDER[:] = [tmp_path_factory.mktemp("tables")]


def _score(prediction: Table, gold: Table, penalty: float = 0.1) -> float:
    for name, table in (("p.csv", prediction), ("g.csv", gold)):
        with (_FOLDER[0] / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([[f"{name}{i}" for i in range(len(table[0]))], *table])
    return score(_FOLDER[0] / "p.csv", _FOLDER[0] / "g.csv", penalty).tasks[0].score
