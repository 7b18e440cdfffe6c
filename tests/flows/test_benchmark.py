"""The benchmark as a whole: a small suite under two setups, repeated, cut short, held against an accepted run."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from endpoint import Status
from suites import GOLD, make_suite
from world import ANSWER, ASKED, World, make_folder, slow_after, solver, wait_for


def run(world: World, suite: Path, results: Path, *more: str) -> tuple[int, dict[str, Any], str]:
    """`benchmark run` without a server; exit code, what it found, standard error."""
    places = ("--suite", str(suite), "--results", str(results), "--no-prefect", "--json")
    done = world.call("benchmark", "run", *places, *more)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_every_task_is_asked_under_every_setup_and_repeat_and_scored(world: World, tmp_path: Path) -> None:
    suite, results = make_suite(tmp_path / "suite"), tmp_path / "results"
    setups = ("--profile", "default", "--model", "scripted", "--model", "other", "--repeats", "2", "--run", "first")
    code, found, said = run(world, suite, results, *setups)
    assert code == 0, said
    assert world.endpoint.calls == len(GOLD) * 2 * 2 * ASKED
    assert {body["model"] for body in world.endpoint.requests} == {"scripted", "other"}
    scores = [(s["model"], s["tasks"], s["repeats"], s["answered"], s["score"], s["sigma"]) for s in found["setups"]]
    assert scores == [(name, 3, 2, 1.0, pytest.approx((1 + 0.45 + 1) / 3), 0.0) for name in ("scripted", "other")]
    assert [(s["calls"], s["paid"]) for s in found["setups"]] == [(ASKED, ASKED)] * 2
    assert found["setups"][0]["tokens"] > 300 and found["seconds"] > 0 and found["missing"] == 0
    place = results / "first" / "default+other" / "suite" / "repeat-1" / "任务_3"
    assert (place / "prediction.csv").read_text("utf-8") == ANSWER
    assert {path.name for path in (results / "first").glob("*.*")} == {
        "run.json", "report.html", "report.md", "plots.png", "trials.parquet", "measures.parquet", "costs.parquet"
    }  # fmt: skip
    asked = world.call("benchmark", "query", "--results", str(results), "--json", "SELECT DISTINCT stage FROM costs")
    assert {"solve_question", "publish"} <= {row["stage"] for row in json.loads(asked.stdout)}


def test_a_run_that_goes_on_asks_only_what_is_missing(world: World, tmp_path: Path) -> None:
    suite, results = make_suite(tmp_path / "suite"), tmp_path / "results"
    world.endpoint.replies = lambda body: Status(400, "no") if "(task_2)" in str(body) else solver(body)
    code, found, _ = run(world, suite, results, "--run", "one", "--concurrency", "1")
    failed = next(task for task in found["tasks"] if task["task"] == "task_2")
    assert (code, failed["score"], failed["status"]) == (0, 0.0, "failed") and found["setups"][0]["answered"] < 1
    kept = results / "one" / "default" / "suite" / "repeat-0"
    (kept / "任务_3" / "trial.json").unlink()
    before = (kept / "task_1" / "trial.json").stat().st_mtime_ns
    world.endpoint.replies = solver
    _, again, _ = run(world, suite, results, "--run", "one")
    assert (kept / "task_1" / "trial.json").stat().st_mtime_ns == before and again["missing"] == 0
    done = world.call(
        "benchmark", "run", "--suite", str(suite), "--results", str(results), "--run", "one", "--repeats", "2"
    )
    assert done.returncode == 2 and "was asked for other repeats" in done.stderr


def test_a_run_is_held_against_the_accepted_one(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, results = make_suite(tmp_path / "suite", 8), tmp_path / "results"
    assert world.call("benchmark", "accept", "one", "--results", str(results)).returncode == 2
    assert run(world, suite, results, "--run", "one")[1]["against"] is None
    assert world.call("benchmark", "accept", "one", "--results", str(results)).returncode == 0
    monkeypatch.setenv("TABLEWRIGHT_STORE", str(tmp_path / "another store"))
    world.endpoint.replies = lambda body: solver(body).replace("count(*)", "count(*) + 1")
    code, found, _ = run(world, suite, results, "--run", "two", "--accept", "unless worse")
    pair = found["against"]
    assert (code, pair["before"], pair["pairs"], len(pair["moves"])) == (5, "one", 8, 7)
    assert pair["p"] == pytest.approx(2 / 2**7) and pair["difference"] == pytest.approx(-7 * 0.55 / 8)
    listed = json.loads(world.call("benchmark", "list", "--results", str(results), "--json").stdout)
    assert [(row["run"], row["accepted"]) for row in listed] == [("one", True), ("two", False)]


def test_a_report_is_made_anew_without_a_model(world: World, tmp_path: Path) -> None:
    suite, results = make_suite(tmp_path / "suite"), tmp_path / "results"
    run(world, suite, results, "--run", "one")
    calls = world.endpoint.calls
    (suite / "gold" / "disputed.toml").write_text('task_2 = "it counts a line that is not there"\n')
    page = tmp_path / "page.md"
    page.write_text("# Results\n<!-- b: written by tablewright benchmark -->\n<!-- end of b -->\nmore\n")
    done = world.call(
        "benchmark", "report", "one", "--results", str(results), "--into", str(page), "--section", "b", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["setups"][0]["score"], found["setups"][0]["tasks"]) == (1.0, 2) and world.endpoint.calls == calls
    text = page.read_text("utf-8")
    assert "task_2: it counts a line" in text and text.startswith("# Results\n") and text.endswith("-->\nmore\n")
    strict = world.call("benchmark", "report", str(results / "one"), "--lam", "9", "--json")
    assert json.loads(strict.stdout)["penalty"] == 9


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--suite", "nowhere"), "there is no folder"),
        (("--profile", "nobody"), "no profile 'nobody'"),
        (("--skip", "suite/task_9"), "there is no task suite/task_9"),
        (("--against", "sometimes"), "against 'sometimes'"),
        (("--profile", "default", "--profile", "default"), "two setups are called"),
    ],
)
def test_what_must_be_mended_is_said_before_a_model_is_asked(
    world: World, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    suite = make_suite(tmp_path / "suite")
    given = arguments if "--suite" in arguments else ("--suite", str(suite), *arguments)
    done = world.call("benchmark", "run", *given, "--results", str(tmp_path / "results"), "--no-prefect")
    assert done.returncode == 2 and says in done.stderr and "next:" in done.stderr, done.stderr
    assert world.endpoint.calls == 0 and not (tmp_path / "results").exists()


def test_a_profile_without_a_model_is_told_before_anything_is_asked(world: World, tmp_path: Path) -> None:
    profile = tmp_path / "bare.toml"
    profile.write_text('[endpoints.other]\nconcurrency = 1\n[roles.default]\nendpoints = ["other"]\n')
    places = ("--suite", str(make_suite(tmp_path / "suite")), "--results", str(tmp_path / "results"), "--no-prefect")
    done = world.call("benchmark", "run", *places, "--profile", "default", "--profile", str(profile))
    assert done.returncode == 2 and "no model is configured: endpoint 'other'" in done.stderr, done.stderr
    assert world.endpoint.calls == 0 and not (tmp_path / "results").exists()


def test_a_run_without_any_answer_ends_with_their_exit_code_and_why(world: World, tmp_path: Path) -> None:
    world.endpoint.replies = lambda _: Status(400, {"error": {"message": "out of order"}})
    code, found, said = run(world, make_suite(tmp_path / "suite"), tmp_path / "results", "--run", "one")
    assert code == found["code"] == 3 and found["setups"][0]["answered"] == 0
    assert found["unanswered"].startswith("no question got an answer; 3 of 3: the model stopped giving usable replies")
    assert "out of order" in said and "no question got an answer" in said


def test_a_list_of_no_runs_says_so_and_how_to_make_one(world: World, tmp_path: Path) -> None:
    done = world.call("benchmark", "list", "--results", str(tmp_path))
    assert done.returncode == 0 and done.stdout.startswith(f"no run of the benchmark has ended in {tmp_path}\n")
    assert "next: make one: tablewright benchmark run" in done.stdout
    assert world.call("benchmark", "list", "--results", str(tmp_path), "--json").stdout == "[]\n"


def test_a_suite_is_written_and_checked(world: World, tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite")
    assert world.call("suite", "check", str(suite)).returncode == 5
    done = world.call("suite", "write", str(suite), "--version", "7", "--as-of", "2026-01-31")
    assert done.returncode == 0 and "suite 7: 3 tasks" in done.stdout
    assert world.call("suite", "check", str(suite)).returncode == 0
    make_folder(suite / "extra")
    (suite / "task_1" / "task.json").write_text("{}")
    done = world.call("suite", "check", str(suite), "--json")
    assert done.returncode == 5 and json.loads(done.stdout)["changes"] == ["task_1 has another task"]
    assert "write it as 2026-01-31" in world.call("suite", "write", str(suite), "--as-of", "soon").stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_a_benchmark_that_was_stopped_goes_on_and_asks_no_reply_again(
    world: World, tmp_path: Path, kind: signal.Signals
) -> None:
    suite, results = make_suite(tmp_path / "suite"), tmp_path / "results"
    world.endpoint.replies = slow_after(ASKED + 1, 120)
    arguments = ("benchmark", "run", "--suite", str(suite), "--results", str(results), "--run", "one", "--no-prefect")
    with world.start(*arguments, "--concurrency", "1", start_new_session=True) as process:
        wait_for(lambda: world.endpoint.calls == ASKED + 2)
        process.send_signal(kind)
        _, said = process.communicate(timeout=120)
    if kind == signal.SIGTERM:
        assert process.returncode == 130 and "--run one goes on from here" in said
    assert len(list((results / "one").rglob("trial.json"))) == 1
    world.endpoint.replies = solver
    before = world.endpoint.calls
    code, found, _ = run(world, suite, results, "--run", "one")
    assert code == 0 and world.endpoint.calls == before + 2 * ASKED - 1, (
        "only the reply that was cut off is asked again"
    )
    assert found["setups"][0]["score"] == pytest.approx((1 + 0.45 + 1) / 3) and found["missing"] == 0
