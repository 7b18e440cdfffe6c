"""The command that measures recall: a small made folder in full, and that it sees what is lost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import catalogues
import pytest
import recall
from catalogues import Asked
from recalling import Outcome, all_found, build, desk

ROOT = Path(__file__).resolve().parents[1]
SIZE = 16


def outcome(**changes: object) -> Outcome:
    asked = Asked("made", "?", ("a", "b"), ("a.x", "b.y"))
    none: frozenset[str] = frozenset()
    made = Outcome(asked, ("c.z", "a.x", "b.q", "b.y"), none, none, none, none, none, 100, 0.1, 0.1)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Outcome]]:
    """All questions of a made folder, each way."""
    folder = tmp_path_factory.mktemp("made")
    questions = catalogues.make(folder, SIZE, each=2)
    with desk() as settings:
        world = asyncio.run(build(folder, settings))
        return {way: asyncio.run(all_found(world, questions, way)) for way in recall.ways(None, True)}


def test_shares_count_needed_columns_and_tables_among_the_first_finds() -> None:
    one = outcome()
    assert [one.columns_at(most) for most in (1, 2, 3, 4)] == [0, 0.5, 0.5, 1]
    assert [one.tables_at(most) for most in (1, 2, 3)] == [0, 0.5, 1]


def test_a_row_weighs_questions_alike_and_names_the_largest_brief() -> None:
    row = recall.row("made", "words", [outcome(tokens=90), outcome(order=(), tokens=120)])
    assert row[:4] == ["made", "words", "2", "50.0%"] and row[-3] == "120"
    assert recall.fits([outcome(tokens=120)], 120) and not recall.fits([outcome(tokens=121)], 120)


@pytest.mark.parametrize("kind", ["name", "chinese", "alias", "meaning", "value", "join", "metric"])
def test_what_the_words_of_a_question_say_is_in_context(outcomes: dict[str, list[Outcome]], kind: str) -> None:
    for one in outcomes["words"]:
        if one.asked.kind == kind:
            assert {*one.asked.columns} <= one.context, one.asked
            assert {*one.asked.tables} == one.named, one.asked


def test_given_terms_bring_what_no_word_of_the_question_names(outcomes: dict[str, list[Outcome]]) -> None:
    asked = [one for one in outcomes["terms"] if one.asked.kind == "synonym"]
    without = [one for one in outcomes["kept"] if one.asked.kind == "synonym"]
    assert sum({*one.asked.columns} <= one.context for one in asked) > sum(
        {*one.asked.columns} <= one.context for one in without
    )


def test_needed_columns_are_described_and_the_brief_keeps_to_its_budget(outcomes: dict[str, list[Outcome]]) -> None:
    for way in ("kept", "terms"):
        told = [one for one in outcomes[way] if one.asked.kind != "synonym" or way == "terms"]
        shares = [len(one.described) / len(one.asked.columns) for one in told]
        assert sum(shares) / len(shares) >= 0.95
    assert recall.fits([one for those in outcomes.values() for one in those], 12_000)


@pytest.mark.slow
def test_the_command_measures_a_made_folder_in_a_process_of_its_own() -> None:
    argv = [sys.executable, "tests/recall.py", "--made", "12"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=600)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["good"] and told["cost"][0] == "12" and told["cost"][-2] == "12", done.stderr
    assert [row[1] for row in told["rows"]] == ["words", "kept", "terms"]
