"""The whole path, with a scripted model over real HTTP: files, counted calls, crashes, equal second runs."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from world import ANSWER, ASKED, STAGES, World, crashing, files, last_run, make_folder


def test_a_question_becomes_an_answer_with_its_files(world: World, tmp_path: Path) -> None:
    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    assert (tmp_path / "out" / "answer.csv").read_bytes() == ANSWER.encode()
    assert ended.files == ("answer.csv", "evidence.json", "report.html") and ended.answer.status == "approved"
    assert ended.spend.total().calls == world.endpoint.calls == ASKED
    record = last_run(world.store)
    assert sorted(entry["stage"] for entry in record["stages"]) == sorted(STAGES)
    assert {entry["event"] for entry in record["stages"]} == {"done"}
    assert (record["status"], record["spend"]["total"]["calls"], record["prefect"]) == ("approved", ASKED, "")
    assert record["question"]["as_of"] == "2026-01-31" and record["versions"]["tablewright"]
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text("utf-8"))
    assert [used["path"] for used in evidence["used"]] == ["context/orders.csv", "context/shop.db"]
    assert "key" not in json.dumps(record["request"]) and str(tmp_path) not in json.dumps(evidence)


def test_the_same_question_twice_asks_no_model_twice_and_gives_the_same_files(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    world.answer(folder, tmp_path / "one")
    second = world.answer(folder, tmp_path / "two")
    assert world.endpoint.calls == ASKED and second.spend.total().calls == second.spend.total().journaled == 0
    assert files(tmp_path / "one") == files(tmp_path / "two")
    events = {entry["stage"]: entry["event"] for entry in last_run(world.store)["stages"]}
    assert {name for name, event in events.items() if event == "done"} == {"take_inventory", "deliver"}


def test_a_moved_folder_asks_no_model_again(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    world.answer(folder, tmp_path / "one")
    folder.rename(tmp_path / "moved")
    world.answer(tmp_path / "moved", tmp_path / "two")
    assert world.endpoint.calls == ASKED and files(tmp_path / "one") == files(tmp_path / "two")


def test_a_changed_cell_runs_everything_that_reads_it_again(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    world.answer(folder, tmp_path / "one")
    with (folder / "context" / "orders.csv").open("a") as file:
        file.write("0004,8\r\n")
    world.answer(folder, tmp_path / "one")
    assert (tmp_path / "one" / "answer.csv").read_text("utf-8") == ANSWER.replace("cake,1", "cake,2")


@pytest.mark.parametrize(
    "crashed",
    [
        name if name in ("build_catalogue", "write_contract", "publish") else pytest.param(name, marks=pytest.mark.slow)
        for name in STAGES
    ],
)
def test_a_rerun_after_a_crash_repeats_nothing_that_had_ended(world: World, tmp_path: Path, crashed: str) -> None:
    folder = make_folder(tmp_path / "shop")
    with crashing(crashed):
        world.answer(folder, tmp_path / "one")
    before, asked = last_run(world.store), world.endpoint.calls
    ended = {entry["stage"] for entry in before["stages"] if entry["event"] == "done"}
    assert crashed in ended and before["status"] == "broken"
    world.answer(folder, tmp_path / "two")
    events = {entry["stage"]: entry["event"] for entry in last_run(world.store)["stages"]}
    assert {events[name] for name in ended - {"take_inventory", "deliver"}} <= {"cached"}
    assert world.endpoint.calls == ASKED and asked <= ASKED
    assert (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER


@pytest.mark.slow
@pytest.mark.parametrize("crashed", STAGES)
def test_a_killed_command_line_goes_on_where_it_was(world: World, tmp_path: Path, crashed: str) -> None:
    folder = make_folder(tmp_path / "shop")
    kill = f"""
import os, signal
from tasks import stage
def hear(name, event, seconds):
    if (name, event) == ({crashed!r}, "done"):
        os.kill(os.getpid(), signal.SIGKILL)
stage.listener.set(hear)
"""
    arguments = ("answer", str(folder), "--as-of", "2026-01-31", "--no-prefect", "--out")
    assert world.run(*arguments, str(tmp_path / "one"), script=kill).returncode == -signal.SIGKILL
    done = world.run(*arguments, str(tmp_path / "two"))
    assert (done.returncode, world.endpoint.calls) == (0, ASKED), done.stderr
    world.environment["TABLEWRIGHT_STORE"] = str(tmp_path / "other")
    done = world.run(*arguments, str(tmp_path / "three"))
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "two") == files(tmp_path / "three"), tmp_path
    assert world.endpoint.calls == 2 * ASKED


@pytest.mark.slow
@pytest.mark.parametrize("replies", [0, 1, 2])
def test_a_run_killed_between_two_model_calls_pays_none_twice(world: World, tmp_path: Path, replies: int) -> None:
    folder = make_folder(tmp_path / "shop")
    kill = f"""
import os, signal
from tasks.core.llm import journal
kept = 0
def keep(self, *args, original=journal.Journal.keep):
    global kept
    original(self, *args)
    kept += 1
    if kept > {replies}:
        os.kill(os.getpid(), signal.SIGKILL)
journal.Journal.keep = keep
"""
    arguments = ("answer", str(folder), "--no-prefect", "--out", str(tmp_path / "out"))
    assert world.run(*arguments, script=kill).returncode == -signal.SIGKILL
    assert world.endpoint.calls == replies + 1
    done = world.run(*arguments, "--json")
    assert (done.returncode, world.endpoint.calls) == (0, ASKED), done.stderr
    assert json.loads(done.stdout)["spend"]["journaled"] >= 1
    world.environment["TABLEWRIGHT_STORE"] = str(tmp_path / "other")
    assert world.run(*arguments[:-1], str(tmp_path / "whole")).returncode == 0
    assert files(tmp_path / "out") == files(tmp_path / "whole"), tmp_path
