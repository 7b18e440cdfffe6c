"""`tablewright batch`: a folder of tasks; trouble, deadline and signals cost what they must and no more."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from endpoint import Delay
from world import ANSWER, ASKED, QUESTION, World, children_of, files, make_folder, slow_after, solver, wait_for


def suite(folder: Path, numbers: Sequence[int] = (1, 2)) -> Path:
    """Tasks with questions of their own, so that none pays for another, and things that are no tasks."""
    for number in numbers:
        make_folder(folder / f"task_{number}", f"{QUESTION} ({number})")
    (folder / "notes").mkdir()
    (folder / "README.md").write_text("no task")
    return folder


def summary(out: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((out / "summary.json").read_text("utf-8"))
    return said


def statuses(out: Path) -> dict[str, str]:
    return {row["task"]: row["status"] for row in summary(out)["tasks"]}


def test_every_task_gets_its_files_and_its_row(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (10, 2, 1))
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--concurrency", "3")
    assert done.returncode == 0, done.stderr
    said = summary(tmp_path / "out")
    assert [row["task"] for row in said["tasks"]] == ["task_1", "task_2", "task_10"]
    assert said["counts"] == {"tasks": 3, "approved": 3} and said["ended"] == "all"
    assert said["ignored"] == ["README.md", "notes"]
    row = said["tasks"][-1]
    assert (row["calls"], row["rows"], row["status"]) == (ASKED, 2, "approved") and row["seconds"] > 0
    assert row["tokens_in"] > 100 > row["tokens_out"] > 0 and row["reason"]
    for number in (1, 2, 10):
        written = files(tmp_path / "out" / f"task_{number}")
        assert set(written) == {"prediction.csv", "evidence.json", "report.html"}
        assert written["prediction.csv"].decode() == ANSWER
    assert world.endpoint.calls == 3 * ASKED and "task_10" in done.stdout and done.stderr == ""
    assert "ignored, as no task folders: README.md, notes" in done.stdout


def test_a_task_file_in_capitals_makes_a_task(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    (source / "task_1" / "task.json").rename(source / "task_1" / "TASK.JSON")
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect")
    assert done.returncode == 0, done.stderr
    assert statuses(tmp_path / "out") == {"task_1": "approved"}
    assert (tmp_path / "out" / "task_1" / "prediction.csv").read_text("utf-8") == ANSWER


def test_a_second_batch_into_an_empty_folder_asks_nothing_and_writes_the_same(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite")
    for out in ("one", "two"):
        world.call("batch", str(source), str(tmp_path / out), "--no-prefect")
    assert world.endpoint.calls == 2 * ASKED
    first, second = files(tmp_path / "one"), files(tmp_path / "two")
    assert first.pop("summary.json") != second.pop("summary.json") and first == second


def test_a_failed_task_is_a_row_with_its_reason_and_stops_no_other(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = suite(tmp_path / "suite", (1, 2, 3, 4))
    (source / "task_1" / "task.json").write_text("{}")
    (source / "task_2" / "task.json").write_text("no JSON")
    import flows.solve

    def break_down(question: Any, *_: Any) -> Any:
        if question.text.endswith("(3)"):
            raise RuntimeError("a slip of ours")
        return solve(question, *_)

    solve = flows.solve.solve
    monkeypatch.setattr(flows.solve, "solve", break_down)
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--json")
    assert done.returncode == 5 and json.loads(done.stdout)["counts"] == {"tasks": 4, "error": 3, "approved": 1}
    reasons = [row["reason"] for row in summary(tmp_path / "out")["tasks"][:3]]
    assert "question" in reasons[0] and summary(tmp_path / "out")["tasks"][0]["next"] and "no valid JSON" in reasons[1]
    assert reasons[2] == "RuntimeError: a slip of ours"
    assert "break_down" in (tmp_path / "out" / "task_3" / "error.txt").read_text()


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("nowhere", "there is no folder"),
        ("suite/notes", "no task folder in"),
        ("suite/task_1", "use `tablewright answer"),
        ("suite/README.md", "is a file, and a folder of task folders is wanted"),
        ("x" * 300, "there is no folder"),
    ],
)
def test_bad_input_is_said_before_anything_runs(world: World, tmp_path: Path, source: str, says: str) -> None:
    suite(tmp_path / "suite")
    done = world.call("batch", str(tmp_path / source), str(tmp_path / "out"))
    assert done.returncode == 2 and says in done.stderr and "next:" in done.stderr
    done = world.call("batch", str(tmp_path / "suite"), str(tmp_path / "suite" / "README.md" / "out"))
    assert done.returncode == 2 and "cannot write to" in done.stderr and world.endpoint.calls == 0
    done = world.call("batch", str(tmp_path / "suite"), str(tmp_path / "suite" / "README.md"))
    assert done.returncode == 2 and "README.md is a file" in done.stderr and "give a folder, as" in done.stderr


def test_the_deadline_ends_the_batch_and_what_is_done_stays(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    world.call("batch", str(source), str(tmp_path / "warm"), "--no-prefect")
    make_folder(source / "task_2", "Another question")
    world.endpoint.replies = lambda body: Delay(60, solver(body))
    arguments = ("--no-prefect", "--concurrency", "1", "--deadline", "4")
    done = world.call("batch", str(source), str(tmp_path / "out"), *arguments)
    said = statuses(tmp_path / "out")
    assert said["task_1"] == "approved" and said["task_2"] in ("failed", "deadline")
    assert done.returncode == 5 and summary(tmp_path / "out")["seconds"] < 20


def test_nothing_is_written_into_a_task(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite")
    before = files(source)
    done = world.call("batch", str(source), str(source / "task_2" / "context" / "out"))
    assert done.returncode == 2 and "lies in the task task_2" in done.stderr and files(source) == before


def test_a_folder_whose_name_is_no_text_is_ignored_and_stops_no_task(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    make_folder(source / os.fsdecode(b"task_\xff"))
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ignored"] == ["README.md", "notes", r"task_\udcff"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_the_summary_and_leaves_no_process(world: World, tmp_path: Path, kind: signal.Signals) -> None:
    source = suite(tmp_path / "suite", (1, 2, 3))
    world.endpoint.replies = slow_after(ASKED, 120)
    arguments = ("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--concurrency", "1")
    with world.start(*arguments, start_new_session=True) as process:
        wait_for(lambda: world.endpoint.calls > ASKED)
        process.send_signal(kind)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert statuses(tmp_path / "out") == {"task_1": "approved", "task_2": "interrupted", "task_3": "interrupted"}
    assert summary(tmp_path / "out")["ended"] == "interrupted"
    assert not children_of(process.pid)
