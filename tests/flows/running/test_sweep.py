"""A benchmark's settings file: what it says holds, what is asked beside it goes before, and what is wrong in it is told."""

from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from suites import GOLD, make_suite
from world import ASKED, ROOT, World

from flows.running.grid import BenchmarkRequest
from flows.running.roots import check_config
from flows.running.sweep import asked, settled
from tasks.core.errors import InputError
from tasks.core.settings import load, profiles


def test_the_nights_settings_name_every_field_and_what_they_name_is_there() -> None:
    said = tomllib.loads((ROOT / "configs" / "benchmark.toml").read_text("utf-8"))
    others = {"config", "run", "repeats"}  # seeds in place of repeats
    assert set(said) == set(BenchmarkRequest.model_fields) - others
    night = asked("benchmark", {})
    assert night == BenchmarkRequest(**said) and night.numbers == [0] and night.deadline > 0
    assert all((ROOT / suite).is_dir() for suite in night.suites) and set(night.profiles) <= set(profiles())
    assert (night.against, night.accept) == ("accepted", "unless worse")


@pytest.mark.parametrize(
    ("given", "numbers", "suites"),
    [
        ({}, [3, 5], ["a", "b"]),
        ({"suites": ["c"]}, [3, 5], ["c"]),
        ({"repeats": 1}, [0], ["a", "b"]),
        ({"repeats": 2, "seeds": [7]}, [7], ["a", "b"]),
    ],
)
def test_what_is_asked_goes_before_the_file(
    tmp_path: Path, given: dict[str, object], numbers: list[int], suites: list[str]
) -> None:
    (path := tmp_path / "own.toml").write_text('suites = ["a", "b"]\nseeds = [3, 5]\nrepeats = 9\n')
    found = asked(str(path), given)
    assert (found.numbers, found.suites, found.config) == (numbers, suites, "")


def test_of_a_form_the_fields_that_differ_from_their_defaults_go_before_the_file(tmp_path: Path) -> None:
    (path := tmp_path / "own.toml").write_text('suites = ["a"]\nprofiles = ["local"]\naccept = "yes"\n')
    form = BenchmarkRequest(**{**BenchmarkRequest().model_dump(), "config": str(path), "profiles": ["bare"]})
    found = settled(form)
    assert (found.suites, found.profiles, found.accept) == (["a"], ["bare"], "yes")
    assert settled(BenchmarkRequest(repeats=3)) == BenchmarkRequest(repeats=3)
    check_config(form, ())
    check_config(BenchmarkRequest(config="benchmark"), (str(tmp_path),))
    with pytest.raises(InputError, match="only names of configs/ are taken"):
        check_config(form, (str(tmp_path),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("suits = []", "'suits', which is no field of a benchmark; did you mean suites"),
        ('run = "x"', "'run', which is no field"),
        ("seeds = [-1]", "seeds.0 -1"),
        ("suites = []", "suites"),
        ('against = "昨天"', "against '昨天'"),
        ("suites =", "cannot read"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(world: World, tmp_path: Path, text: str, says: str) -> None:
    (path := tmp_path / "own.toml").write_text(text, "utf-8")
    done = world.call("benchmark", "run", "--config", str(path), "--no-prefect")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and str(path) in said and "next:" in said, said
    assert all(part in said for part in says.split("; ")), said


def test_a_file_that_is_not_there_and_one_that_is_no_profile_are_told(world: World) -> None:
    done = world.call("benchmark", "run", "--config", "nobody")
    assert done.returncode == 2 and "nobody.toml" in done.stderr
    with pytest.raises(InputError, match=r"benchmark\.toml is no profile") as told:
        load("benchmark")
    assert "--config benchmark" in told.value.hint and "benchmark" not in profiles()


def test_a_grid_of_a_file_is_measured_with_its_seeds(world: World, tmp_path: Path) -> None:
    suite, results = make_suite(tmp_path / "suite"), tmp_path / "results"
    (path := tmp_path / "own.toml").write_text(
        f'suites = ["{suite}"]\nmodels = ["one", "two"]\nseeds = [4, 2]\nskip = ["suite/任务_3"]\nresults = "{results}"\n', "utf-8"
    )  # fmt: skip
    done = world.call("benchmark", "run", "--config", str(path), "--run", "night", "--no-prefect", "--json")
    assert done.returncode == 0, done.stderr
    assert world.endpoint.calls == 2 * 2 * 2 * ASKED
    found = json.loads(done.stdout)
    assert [(s["model"], s["tasks"], s["repeats"]) for s in found["setups"]] == [("one", 2, 2), ("two", 2, 2)]
    places = {str(kept.parent.relative_to(results / "night")) for kept in (results / "night").rglob("trial.json")}
    assert places == {
        f"default+{model}/suite/repeat-{n}/{task}"
        for model in ("one", "two")
        for n in (2, 4)
        for task in ("task_1", "task_2")
    }
    again = world.call("benchmark", "run", "--config", str(path), "--run", "night", "--seed", "1", "--no-prefect")
    assert again.returncode == 2 and "was asked for other repeats" in again.stderr


def test_after_the_deadline_no_question_begins_and_all_setups_lack_the_same(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import flows.benchmark

    now = [0.0]
    suite, results = make_suite(tmp_path / "suite"), tmp_path / "results"
    monkeypatch.setattr(flows.benchmark, "time", SimpleNamespace(monotonic=lambda: now[0] + time.monotonic()))
    asked_of: list[str] = []
    run_trial = flows.benchmark.run_trial

    async def timed(planned: object, hear: object) -> object:
        trial = await run_trial(planned, hear)  # type: ignore[arg-type]
        asked_of.append(f"{trial.task} {trial.model}")
        now[0] += 1000.0
        return trial

    monkeypatch.setattr(flows.benchmark, "run_trial", timed)
    arguments = ["benchmark", "run", "--suite", str(suite), "--results", str(results), "--run", "night", "--no-prefect"]
    arguments += ["--model", "one", "--model", "two", "--concurrency", "1", "--accept", "unless worse", "--json"]
    done = world.call(*arguments, "--deadline", "1500")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["missing"] == 4 and asked_of == ["task_1 one", "task_1 two"], done.stderr
    listed = world.call("benchmark", "list", "--results", str(results), "--json")
    assert [row["accepted"] for row in json.loads(listed.stdout)] == [False, False], "a run with gaps is not accepted"
    again = json.loads(world.call(*arguments).stdout)
    assert again["missing"] == 0 and world.endpoint.calls == 2 * len(GOLD) * ASKED
    none = world.call(*[a if a != "night" else "other" for a in arguments], "--deadline", "0.000001")
    assert none.returncode == 2 and "no question began within deadline" in json.loads(none.stdout)["error"]["message"]
