"""The command that measures recall: a small made folder in full, that it sees what is lost, and region_sales with recorded replies."""

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
import sales
from catalogues import Asked
from recalling import ASKING, Outcome, all_found, build, desk
from samples import RECORDINGS

from tasks.core.llm.ballots import aggregate
from tasks.core.models.run import Usage

ROOT = Path(__file__).resolve().parents[1]
SIZE = 16


def outcome(**changes: object) -> Outcome:
    asked = Asked("made", "?", ("a", "b"), ("a.x", "b.y"))
    none: frozenset[str] = frozenset()
    made = Outcome(asked, ("c.z", "a.x", "b.q", "b.y"), none, none, none, none, none, 100, 0.1, 0.1)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=[catalogues.WORDS, "words_other.txt"])
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Outcome]]:
    """All questions of a made folder, each way; ranking was never fitted to the second one's words."""
    folder = tmp_path_factory.mktemp("made")
    questions = catalogues.make(folder, SIZE, each=2, said=request.param)
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


def test_every_needed_table_is_listed_by_the_question_s_words_or_the_given_terms(
    outcomes: dict[str, list[Outcome]],
) -> None:
    for one in outcomes["terms"]:
        assert {*one.asked.tables} == one.listed, one.asked


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


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Outcome]]:
    """The questions of region_sales, without a model and over the recorded replies of a reader."""
    folder = tmp_path_factory.mktemp("sales")
    sales.suite(folder)
    with desk(str(RECORDINGS / "sales.toml")) as settings:
        ((world, questions),) = recall.by_world(folder, folder / "gold", folder / "scratch", settings)
        return {way: asyncio.run(all_found(world, questions, way)) for way in ("kept", *ASKING)}


def test_recorded_terms_find_every_needed_column_and_the_words_of_the_questions_do_not(
    recorded: dict[str, list[Outcome]],
) -> None:
    assert len(recorded["kept"]) == len(sales.questions())
    lost = [one.asked.text for one in recorded["kept"] if not {*one.asked.columns} <= one.context]
    assert len(lost) == 1 and "came back" in lost[0]
    for way in ASKING:
        assert [one.columns_at(30) for one in recorded[way]] == [1] * len(recorded[way])
        assert not [one.problems for one in recorded[way] if one.problems]


def test_recorded_votes_stop_early_and_fold_nothing_that_is_needed(recorded: dict[str, list[Outcome]]) -> None:
    for one, uncut in zip(recorded["model"], recorded["expanded"], strict=True):
        assert one.described == {*one.asked.columns} and one.tokens < uncut.tokens
    (row,) = recall.votes_row("region_sales", recorded["model"])
    assert row[1:6] == ["11", "110", "33", "55", "40%"]


def test_the_row_of_votes_counts_calls_against_all_rounds_and_against_a_call_a_table() -> None:
    yes, no = {"a": (True, "")}, {"a": (False, "")}
    ballots = [
        {**yes, "b": (False, "")},
        {**yes, "b": (False, "")},
        {**yes, "b": (False, "")},
        {**no, "b": (False, "")},
    ]
    poll = aggregate(("a", "b"), ballots, 5).model_copy(update={"usage": Usage(calls=1, journaled=3)})
    told = [outcome(polls=(poll,)), outcome(polls=(poll,), problems=("not filtered",)), outcome()]
    assert recall.votes_row("made", told) == [["made", "2", "4", "8", "10", "20%", "20", "50.0%", "1"]]
    assert recall.votes_row("made", [outcome()]) == []


def test_a_suite_whose_gold_does_not_say_how_it_is_computed_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["recall.py"])
    (tmp_path / "task_1").mkdir()
    (tmp_path / "task_1" / "task.json").write_text('{"question": "?"}', "utf-8")
    assert not recall.of_suite(("mine", tmp_path, tmp_path / "gold"), recall.arguments(), [])
    assert "gold.sql or truth.json" in capsys.readouterr().err


def test_made_questions_are_taken_evenly() -> None:
    assert recall.evenly("abcdefgh", 4) == ["a", "c", "e", "g"]
    assert recall.evenly("ab", 5) == recall.evenly("ab", 0) == ["a", "b"]


def test_a_model_is_not_asked_without_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["recall.py", "--ask"])
    with pytest.raises(SystemExit):
        recall.arguments()
    monkeypatch.setattr(sys, "argv", ["recall.py", "--ask", "terms", "--profile", "local"])
    assert recall.arguments().ask == "terms"


@pytest.mark.slow
def test_the_command_measures_a_made_folder_in_a_process_of_its_own() -> None:
    argv = [sys.executable, "tests/recall.py", "--made", "12"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=600)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["good"] and told["cost"][0] == "12" and told["cost"][-2] == "12", done.stderr
    assert [row[1] for row in told["rows"]] == ["words", "kept", "terms"]
