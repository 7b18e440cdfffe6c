"""Which task of a batch is next, with how much time, and how many run at once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from flows.running import machine, plan
from flows.running.plan import Plan, places, weigh
from tasks.core.settings import load


def task(folder: Path, size: int = 10, name: str = "t.csv", **fields: Any) -> Path:
    (folder / "context").mkdir(parents=True)
    (folder / "task.json").write_text(json.dumps({"question": "多少?", **fields}), "utf-8")
    (folder / "context" / name).write_bytes(b"x" * size)
    return folder


def limits(**changes: Any) -> Any:
    return load(overrides={"batch": changes}).batch


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(plan, "time", made)
    return made


def drain(made: Plan, places: int = 1) -> list[str]:
    found = []
    while turn := made.next(places):
        found.append(turn.task)
    return found


def test_without_a_deadline_tasks_come_in_their_order_and_have_no_limit(tmp_path: Path) -> None:
    for name, size in (("big", 3_000_000), ("small", 1)):
        task(tmp_path / name, size)
    made = Plan(tmp_path, ["big", "small"], limits(), None)
    first = made.next(4)
    assert first and (first.task, first.seconds, first.late) == ("big", 0.0, False)
    assert drain(made) == ["small"]


def test_with_a_deadline_short_tasks_come_first_and_documents_and_hard_ones_last(tmp_path: Path) -> None:
    task(tmp_path / "document", 1_000_000, "说明.md")
    task(tmp_path / "table", 2_000_000)
    task(tmp_path / "extreme", 1_000_000, difficulty="Extreme")
    task(tmp_path / "plain", 1_000_000)
    task(tmp_path / "easy", 1_200_000, difficulty="easy")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "task.json").write_bytes(b"\xff{")
    names = ["document", "table", "extreme", "plain", "easy", "broken"]
    assert drain(Plan(tmp_path, names, limits(), 1000)) == ["broken", "easy", "plain", "table", "extreme", "document"]


def test_equal_tasks_keep_their_order(tmp_path: Path) -> None:
    names = [task(tmp_path / f"task_{number}").name for number in range(12)]
    assert drain(Plan(tmp_path, names, limits(), 1000)) == names


def test_each_gets_its_share_and_what_is_left_over_falls_to_those_after_it(tmp_path: Path, clock: Clock) -> None:
    names = [task(tmp_path / name).name for name in "abcd"]
    made = Plan(tmp_path, names, limits(late_seconds=0, least_seconds=1), 400)
    first = made.next(2)
    assert first and first.seconds == 200  # 400 s in two places, four tasks
    clock.now += 10
    second = made.next(2)
    assert second and second.seconds == 2 * 390 / 3
    clock.now += 380
    third = made.next(2)
    assert third and third.seconds == 10  # no more than there is
    clock.now += 10
    assert made.next(2) is None


def test_a_task_is_late_when_its_share_is_less_than_the_limit_or_than_others_took(tmp_path: Path, clock: Clock) -> None:
    names = [task(tmp_path / name).name for name in "abcd"]
    made = Plan(tmp_path, names, limits(late_seconds=20, least_seconds=5), 100)
    first = made.next(1)
    assert first and not first.late and first.seconds == 25
    made.took(40)
    clock.now += 10
    second = made.next(1)
    assert second and second.late and second.seconds == 30
    assert (made.took(2), made.took(2)) == (None, None)  # on average 14.7 s now
    third = made.next(1)
    assert third and not third.late and third.seconds == 45
    clock.now += 88
    last = made.next(1)
    assert last and last.late and last.seconds == 2


def test_a_task_never_starts_with_less_than_the_least_while_there_is_that_much(tmp_path: Path, clock: Clock) -> None:
    names = [task(tmp_path / f"t{number}").name for number in range(100)]
    turn = Plan(tmp_path, names, limits(least_seconds=15), 60).next(2)
    assert turn and turn.seconds == 15 and turn.late


def test_places_follow_cores_endpoints_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory: list[int | None] = [64_000]
    monkeypatch.setattr(machine, "cores", lambda: 16)
    monkeypatch.setattr(machine, "memory_mb", lambda: memory[0])
    endpoints = {"main": {"concurrency": 12}, "other": {**load().endpoints["main"].model_dump(), "concurrency": 5}}
    wide = load(overrides={"endpoints": endpoints})
    assert places(wide) == 12 + 16  # no role asks the other one
    both = load(overrides={"endpoints": endpoints, "roles": {"agent": {"endpoints": ["main", "other"]}}})
    assert places(both) == 12 + 5 + 16
    assert places(load("local")) == 2  # its model works on the cores
    assert places(wide, 3) == 3
    assert places(load(overrides={"batch": {"concurrency": 7}})) == 7
    memory[0] = 8_500
    assert places(wide) == 8
    memory[0] = 100
    assert places(wide) == 1
    memory[0] = None
    assert places(wide) == 28


def test_what_cannot_be_read_weighs_little_and_stops_nothing(tmp_path: Path) -> None:
    assert weigh(tmp_path / "nowhere") == 1.0
    (tmp_path / "a" / "task.json").mkdir(parents=True)
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a" / "loop")
    assert 1.0 <= weigh(tmp_path / "a") < 1.1


def test_a_plan_of_a_thousand_tasks_is_made_in_seconds(tmp_path: Path) -> None:
    names = [task(tmp_path / f"t{number}").name for number in range(1000)]
    began = time.process_time()
    assert len(drain(Plan(tmp_path, names, limits(), 1000))) == 1000
    assert time.process_time() - began < 10


def test_over_several_machines_there_is_a_question_for_each_process() -> None:
    def many(**machines: Any) -> int:
        return places(load(overrides={"machines": machines, "endpoints": {"main": {"concurrency": 8}}}))

    assert many(runner="pool", shares=8) == 8 and many(runner="dask", shares=2) == 2
    here = many(runner="here", shares=2)
    assert many(runner="pool", shares=1) == here  # behind a gateway nobody says how many there are
    assert places(load(overrides={"machines": {"runner": "pool", "shares": 4}}), wanted=9) == 9
