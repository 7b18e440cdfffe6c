"""`tablewright batch`: a folder of tasks; trouble, deadline and signals cost what they must and no more."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from endpoint import Delay
from world import ANSWER, ASKED, QUESTION, World, children_of, files, make_folder, slow_after, solver, wait_for

from flows.running.rows import Row
from flows.running.tasks import Batch


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
    for number, reason in enumerate(reasons, 1):
        told = json.loads((tmp_path / "out" / f"task_{number}" / "evidence.json").read_text("utf-8"))
        assert told["status"] == "failed" and told["reason"].startswith(reason) and told["sources"] == []
    assert told["question"]["text"].endswith("(3)") and told["question"]["task_id"]


def test_a_task_whose_files_cannot_be_read_has_files_that_say_why(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    for path in (source / "task_1" / "context").iterdir():
        path.unlink()
    (source / "task_1" / "context" / "账目.xlsx").write_bytes(b"PK\x05\x06 no workbook")
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--json")
    (row,) = json.loads(done.stdout)["tasks"]
    assert (done.returncode, row["status"], world.endpoint.calls) == (5, "error", 0) and "账目.xlsx" in row["reason"]
    told = json.loads((tmp_path / "out" / "task_1" / "evidence.json").read_text("utf-8"))
    assert told["reason"] == f"{row['reason']}; next: {row['next']}" and not told["solving"]["steps"]
    page = (tmp_path / "out" / "task_1" / "report.html").read_text("utf-8")
    assert "账目.xlsx" in page and "no table and no document can be read" in page
    assert not (tmp_path / "out" / "task_1" / "prediction.csv").exists()


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


@pytest.mark.slow
def test_the_deadline_ends_the_batch_and_what_is_done_stays(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    world.call("batch", str(source), str(tmp_path / "warm"), "--no-prefect")
    make_folder(source / "task_2", "Short")
    world.endpoint.replies = lambda body: Delay(60, solver(body))
    (profile := tmp_path / "own.toml").write_text('[batch]\nleast_seconds = 5\nlate_seconds = 0\nlate_profile = ""\n')
    arguments = ("--no-prefect", "--concurrency", "1", "--profile", str(profile), "--deadline")
    done = world.call("batch", str(source), str(tmp_path / "out"), *arguments, "24")
    assert list(statuses(tmp_path / "out").values()) == ["approved", "failed"]  # the share of the first is over
    assert done.returncode == 5 and summary(tmp_path / "out")["ended"] == "all"
    shutil.rmtree(source / "task_1")
    done = world.call("batch", str(source), str(tmp_path / "out"), *arguments, "12")
    assert statuses(tmp_path / "out") == {"task_2": "deadline"} and done.returncode == 5
    assert summary(tmp_path / "out")["ended"] == "deadline" and summary(tmp_path / "out")["seconds"] < 13


def test_nothing_is_written_into_a_task(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite")
    before = files(source)
    done = world.call("batch", str(source), str(source / "task_2" / "context" / "out"))
    assert done.returncode == 2 and "lies in the task task_2" in done.stderr and files(source) == before
    done = world.call("batch", str(source), f"{source}/task_1/..")
    assert done.returncode == 2 and "is the folder of the tasks" in done.stderr and files(source) == before


def test_a_folder_whose_name_is_no_text_is_ignored_and_stops_no_task(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    make_folder(source / os.fsdecode(b"task_\xff"))
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ignored"] == ["README.md", "notes", r"task_\udcff"]


def test_hundreds_of_tasks_of_all_kinds_are_gone_through(world: World, tmp_path: Path) -> None:
    source = tmp_path / "suite"
    for number in range(1, 321):
        folder = source / f"task_{number}"
        folder.mkdir(parents=True)
        if number % 7 == 0:
            continue  # an empty folder
        path = folder / "task.json"
        match number % 5:
            case 0:
                path.mkdir()
            case 1:
                path.write_bytes(b"\xff\xfe{ no JSON")
            case 2:
                path.symlink_to(folder / "gone")
            case 3:
                path.write_text("[]")
            case 4:
                path.write_text(json.dumps({"task_id": "same", "question": "没有数据"}))
    for name in ("task_8", "task_16"):  # two good ones: the same id, no difficulty
        (source / name / "task.json").unlink()
        (source / name).rmdir()
        make_folder(source / name)
        (source / name / "task.json").write_text(json.dumps({"task_id": "same", "question": QUESTION}), "utf-8")
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--deadline", "500", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 5 and said["ended"] == "all", done.stderr
    assert [row["task"] for row in said["tasks"]] == [f"task_{n}" for n in range(1, 321) if n % 7]
    assert said["ignored"] == [f"task_{n}" for n in range(1, 321) if n % 7 == 0]
    assert said["counts"] == {"tasks": 275, "approved": 2, "error": 273}
    assert all(row["reason"] and row["next"] for row in said["tasks"] if row["status"] == "error")
    for name in ("task_8", "task_16"):
        assert (tmp_path / "out" / name / "prediction.csv").read_text("utf-8") == ANSWER


def test_the_summary_has_scores_where_gold_is_there(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1, 2, 3))
    (source / "task_3" / "task.json").write_text("{}")
    for name, table in (("task_1", ANSWER), ("task_3", ANSWER), ("task_9", ANSWER)):
        (source / "gold" / name).mkdir(parents=True)
        (source / "gold" / name / "gold.csv").write_text(table, "utf-8")
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect")
    said = summary(tmp_path / "out")
    assert {row["task"]: row["score"] for row in said["tasks"]} == {"task_1": 1.0, "task_2": None, "task_3": 0.0}
    gold = {"gold": str(source / "gold"), "tasks": 2, "mean": 0.5, "perfect": 1, "penalty": 0.1}
    assert said["score"] == gold and "mean score 0.5 over 2 tasks, 1 of them perfect" in done.stdout
    other = tmp_path / "other" / "task_2"
    other.mkdir(parents=True)
    (other / "gold.csv").write_text("a\n1\n")
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--gold", str(other.parent))
    assert summary(tmp_path / "out")["score"]["mean"] == 0.0 and done.returncode == 5
    (other / "gold.csv").write_text("")
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--gold", str(other.parent))
    assert "is empty" in summary(tmp_path / "out")["score"]["problem"] and "not scored" in done.stdout
    done = world.call("batch", str(source), str(tmp_path / "out"), "--gold", str(tmp_path / "nowhere"))
    assert done.returncode == 2 and f"there is no folder '{tmp_path / 'nowhere'}'" in done.stderr


def test_a_late_task_asks_the_model_less(world: World, tmp_path: Path) -> None:
    source = suite(tmp_path / "suite", (1,))
    profile = tmp_path / "own.toml"
    profile.write_text("[batch]\nlate_seconds = 1000\n")
    arguments = ("--no-prefect", "--deadline", "300", "--profile", str(profile))
    done = world.call("batch", str(source), str(tmp_path / "out"), *arguments)
    assert done.returncode == 0, done.stderr
    row = summary(tmp_path / "out")["tasks"][0]
    assert row["late"] and row["status"] == "not_assessed" and row["calls"] == ASKED - 3  # no contract, no validators
    assert (tmp_path / "out" / "task_1" / "prediction.csv").read_text("utf-8") == ANSWER


def test_what_cancels_itself_or_cannot_be_written_is_one_tasks_trouble(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = suite(tmp_path / "suite", (1, 2, 3))
    import flows.solve

    def strange(question: Any, *_: Any) -> Any:
        if question.text.endswith("(1)"):
            raise asyncio.CancelledError
        if question.text.endswith("(2)"):
            raise TimeoutError("of something inside")
        return solve(question, *_)

    solve = flows.solve.solve
    monkeypatch.setattr(flows.solve, "solve", strange)
    (tmp_path / "out" / "task_2").mkdir(parents=True)
    (tmp_path / "out" / "task_2" / "error.txt").mkdir()
    done = world.call("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--concurrency", "1")
    assert done.returncode == 5
    assert statuses(tmp_path / "out") == {"task_1": "error", "task_2": "error", "task_3": "approved"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_the_summary_and_leaves_no_process(world: World, tmp_path: Path, kind: signal.Signals) -> None:
    source = suite(tmp_path / "suite", (1, 2, 3))
    world.endpoint.replies = slow_after(ASKED, 120)
    arguments = ("batch", str(source), str(tmp_path / "out"), "--no-prefect", "--concurrency", "1")
    with world.start(*arguments, start_new_session=True) as process:
        wait_for(lambda: world.endpoint.calls > ASKED)
        began = time.monotonic()
        process.send_signal(kind)
        process.communicate(timeout=60)
    assert process.returncode == 130 and time.monotonic() - began < 10
    assert statuses(tmp_path / "out") == {"task_1": "approved", "task_2": "interrupted", "task_3": "interrupted"}
    assert summary(tmp_path / "out")["ended"] == "interrupted"
    assert not children_of(process.pid)


@pytest.mark.slow
def test_a_prediction_is_there_before_validators_have_answered(world: World, tmp_path: Path) -> None:
    source, out = suite(tmp_path / "suite", (1,)), tmp_path / "out"
    world.endpoint.replies = slow_after(3, 120)  # the contract, a query, the submission
    with world.start("batch", str(source), str(out), "--no-prefect", start_new_session=True) as process:
        wait_for(lambda: world.endpoint.calls > 3)
        assert (out / "task_1" / "prediction.csv").read_text("utf-8") == ANSWER
        process.kill()
        process.communicate(timeout=60)
    assert summary(out)["ended"] == "running" and not (out / "task_1" / "evidence.json").exists()
    world.endpoint.replies = solver
    assert world.call("batch", str(source), str(out), "--no-prefect").returncode == 0
    assert statuses(out) == {"task_1": "approved"} and not summary(out)["tasks"][0]["draft"]
    assert (out / "task_1" / "prediction.csv").read_text("utf-8") == ANSWER


def test_the_row_of_a_task_without_an_end_says_that_its_prediction_is_a_candidate(tmp_path: Path) -> None:
    batch = Batch(suite(tmp_path / "suite", (1, 2, 3)), tmp_path / "out", "default", 0)
    for task in ("task_1", "task_3"):
        batch.keep_draft(task, b"n\n1\n")
    (tmp_path / "out" / "task_3" / "prediction.csv").unlink()  # withheld in the end
    batch.add(Row(task="task_3", status="failed", reason="its replay was another"))
    batch.close("deadline")
    rows = {row["task"]: row for row in summary(tmp_path / "out")["tasks"]}
    assert [rows[f"task_{number}"]["draft"] for number in (1, 2, 3)] == [True, False, False]
    assert "no validator has approved it" in rows["task_1"]["reason"]
    assert (tmp_path / "out" / "task_1" / "prediction.csv").read_bytes() == b"n\n1\n"
