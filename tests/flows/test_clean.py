"""Retention: what nobody uses goes, what a run under way or a kept run needs stays, whatever its age."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world import ANSWER, ASKED, World, files, last_run, make_folder

from flows.clean import Cleaned, clean
from tasks import stage
from tasks.core.files.store import Folder, Store

AGE = 40 * 86_400.0


def grow_old(store: Path) -> None:
    """Everything in the store was used last 40 days ago."""
    then = time.time() - AGE
    for path in [*store.rglob("*")]:
        os.utime(path, (then, then))


def cleaned(world: World, *arguments: str) -> dict[str, Any]:
    done = world.call("clean", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return {**said, "removed": {part["kind"]: part["count"] for part in said["removed"]}}


def count(store: Path) -> int:
    return sum(path.is_file() for path in store.rglob("*") if "cache" not in path.parts)


def events(world: World) -> dict[str, str]:
    return {entry["stage"]: entry["event"] for entry in last_run(world.store)["stages"]}


def test_what_is_old_goes_and_what_was_used_since_stays(world: World, tmp_path: Path) -> None:
    old, used = make_folder(tmp_path / "old", "Wie viele? 多少？"), make_folder(tmp_path / "used")
    first = world.answer(old, tmp_path / "out")
    world.answer(used, tmp_path / "two")
    (world.store / "answers" / first.run).mkdir(parents=True)
    (world.store / "cache" / "convert-left").mkdir()
    grow_old(world.store)
    world.answer(used, tmp_path / "two")
    before = count(world.store)
    said = cleaned(world, "--dry-run")
    assert count(world.store) == before and said["removed"]["runs"] == 2 and said["dry_run"]
    assert cleaned(world)["removed"] == said["removed"] and said["removed"]["scratch"] == 1
    assert said["removed"]["files of runs"] == 1 and "replies of models" not in said["removed"]
    assert [path.stem for path in (world.store / "runs").iterdir()] == [last_run(world.store)["run"]]
    asked = world.endpoint.calls
    world.answer(used, tmp_path / "three")
    assert {name for name, event in events(world).items() if event == "done"} == {"take_inventory", "deliver"}
    world.answer(old, tmp_path / "four")
    assert world.endpoint.calls == asked, "the journal pays"
    assert files(tmp_path / "four") == files(tmp_path / "out")
    assert cleaned(world)["removed"] == {}


def test_replies_go_only_when_that_is_asked(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    world.answer(folder, tmp_path / "out")
    grow_old(world.store)
    assert cleaned(world, "--journal")["removed"]["replies of models"] == ASKED
    assert count(world.store) == 0 and (tmp_path / "out" / "answer.csv").is_file()
    assert world.call("clean", "--older-than", "-1").returncode == 2
    assert "nothing is that old" in world.call("clean").stdout


@pytest.fixture(params=["build_catalogue", "write_contract", "publish"])
def cleaning(request: pytest.FixtureRequest, world: World) -> Iterator[list[Cleaned]]:
    """While a run is under way, as soon as this stage has ended, everything without use is removed."""
    said: list[Cleaned] = []
    store = Store(Folder(world.store), world.store / "cache")

    def hear(name: str, event: str, _seconds: float) -> None:
        if name == request.param and event in ("done", "cached"):
            said.append(clean(store, days=0, journal=True, dry=False))

    token = stage.listener.set(hear)
    yield said
    stage.listener.reset(token)


def test_a_run_under_way_keeps_what_it_needs(world: World, tmp_path: Path, cleaning: list[Cleaned]) -> None:
    folder = make_folder(tmp_path / "shop")
    world.answer(folder, tmp_path / "one")
    cleaning.clear()
    grow_old(world.store)
    ended = world.answer(folder, tmp_path / "two", question="How many per kind? 每类多少")
    assert (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER
    (said,) = cleaning
    assert said.live == (ended.run,) and ("runs", 1) in [(part.kind, part.count) for part in said.removed]
    again = world.answer(folder, tmp_path / "three", question="How many per kind? 每类多少")
    assert {name for name, event in events(world).items() if event == "done"} == {"take_inventory", "deliver"}
    assert files(tmp_path / "two") == files(tmp_path / "three") and again.spend.total().calls == 0
