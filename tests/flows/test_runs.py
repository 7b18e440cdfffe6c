"""Records of runs: listed with status, score and spend; orphans found and marked; another try equals an undisturbed run."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import uuid
from pathlib import Path
from typing import Any

import pytest
from world import ANSWER, ASKED, QUESTION, World, crashing, files, last_run, make_folder

from flows.running import record
from flows.running.request import make
from tasks.core.errors import InputError
from tasks.core.files.store import Folder, Store

KILLED = """
import os, signal
from tasks import stage
def hear(name, event, seconds):
    if (name, event) == ("write_contract", "done"):
        os.kill(os.getpid(), signal.SIGKILL)
stage.listener.set(hear)
"""


def listed(world: World, *arguments: str) -> list[dict[str, Any]]:
    done = world.call("runs", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_a_killed_run_is_marked_and_resumed_under_its_id_as_if_nothing_had_been(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    killed = world.run("answer", str(folder), "--as-of", "2026-01-31", "--no-prefect", script=KILLED)
    assert killed.returncode == -signal.SIGKILL and last_run(world.store)["status"] == "running"
    (found,) = listed(world)
    assert (found["status"], found["tries"], found["process"]) == ("orphaned", 1, None)
    assert last_run(world.store)["status"] == "orphaned" and f"resume {found['run']}" in found["reason"]
    asked = world.endpoint.calls
    assert found["spend"]["calls"] == asked == 1 and found["spend"]["tokens_in"] > 0, "what was paid is known"
    done = world.call("resume", found["run"], "--no-prefect", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["run"], world.endpoint.calls) == (0, found["run"], ASKED), done.stderr
    assert said["spend"]["calls"] == ASKED - asked and found["out"] == str(world.store / "answers" / found["run"])
    (ended,) = listed(world)
    assert (ended["status"], ended["tries"], ended["began"]) == ("approved", 2, found["began"])
    shutil.move(world.store, tmp_path / "first")
    world.answer(folder, tmp_path / "whole")
    assert files(tmp_path / "first" / "answers" / found["run"]) == files(tmp_path / "whole")


def test_runs_are_listed_the_newest_first_with_score_and_spend(world: World, tmp_path: Path) -> None:
    said = world.call("runs").stdout
    assert said.startswith(f"no run is in the store ({world.store})\n") and "next: make one: tablewright answer" in said
    assert world.call("runs", "--json").stdout == "[]\n"
    assert world.call("runs", "--status", "partial").stdout.startswith("no run with status partial is in the store")
    folder = make_folder(tmp_path / "店")
    (tmp_path / "gold" / "店").mkdir(parents=True)
    (tmp_path / "gold" / "店" / "gold.csv").write_text(ANSWER, "utf-8")
    first = world.answer(folder, tmp_path / "out")
    with pytest.raises(InputError, match="nothing was"), crashing_with("build_catalogue"):
        world.answer(folder, tmp_path / "out", question="另一个问题 another?")
    found = listed(world)
    assert [(row["status"], row["score"]) for row in found] == [("failed", 0.0), ("approved", 1.0)]
    assert [row["question"] for row in found] == ["另一个问题 another?", QUESTION]
    assert (found[1]["run"], found[1]["spend"]["calls"], found[0]["spend"]["calls"]) == (first.run, ASKED, 0)
    (tmp_path / "else" / "店").mkdir(parents=True)
    (tmp_path / "else" / "店" / "gold.csv").write_text("category,n\ncake,9\n茶,8\n", "utf-8")
    assert (
        listed(world, "--gold", str(tmp_path / "else"))[1]["score"] == 0.45
    )  # one of two columns, the other is surplus
    assert [row["run"] for row in listed(world, "--status", "approved")] == [first.run]
    assert len(listed(world, "-n", "1")) == 1
    text = world.call("runs").stdout
    assert f"{first.run}  approved  score 1.000" in text and f"{ASKED} calls" in text
    assert f"    店: {QUESTION}\n" in text and "    店: 另一个问题 another?\n" in text


def crashing_with(name: str) -> Any:
    """The stage's end raises an error that the user must mend."""
    import contextlib

    from tasks import stage

    @contextlib.contextmanager
    def block() -> Any:
        def hear(ended: str, _event: str, _seconds: float) -> None:
            if ended == name:
                raise InputError("nothing was done")

        token = stage.listener.set(hear)
        try:
            yield
        finally:
            stage.listener.reset(token)

    return block()


def test_what_cannot_be_resumed_says_why(world: World, tmp_path: Path) -> None:
    done = world.call("resume", "2020")
    assert done.returncode == 2 and "there is no run '2020'" in done.stderr and "tablewright runs" in done.stderr
    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    store = Store(Folder(world.store), world.store / "cache")
    assert record.find(store, ended.run[:9]).run == ended.run and record.alive(store, ended.run) is None
    with record.living(store, ended.run) as taken:
        assert taken and record.alive(store, ended.run)
        with record.living(store, ended.run) as second:
            assert not second
        done = world.call("resume", ended.run, "--no-prefect")
        assert done.returncode == 2 and f"run {ended.run} is under way" in done.stderr
    running = record.find(store, ended.run).model_copy(update={"status": "running", "machine": "another"})
    assert record.settle(store, running) == running
    other = tmp_path / "other.toml"
    other.write_text("[agent]\nturns = 7\n")
    record.find(store, ended.run).model_copy(
        update={"request": {**running.request, "profile": str(other)}, "status": "orphaned"}
    ).save(store)
    done = world.call("resume", ended.run, "--no-prefect")
    assert done.returncode == 0 and "the settings are not those" in done.stderr


def test_a_retried_flow_run_goes_on_with_its_run(prefect_api: str, world: World, tmp_path: Path) -> None:
    from flows.answer import answer

    folder, flow_run = make_folder(tmp_path / "shop"), str(uuid.uuid4())
    request = make(folder=str(folder), as_of="2026-01-31")
    with crashing("write_contract"):
        asyncio.run(answer(request, flow_run))
    broken = last_run(world.store)
    assert broken["status"] == "broken" and broken["run"].endswith(flow_run[-8:])
    ended = asyncio.run(answer(request, flow_run))
    (kept,) = (world.store / "runs").glob("*.json")
    assert (ended.run, kept.stem, last_run(world.store)["tries"]) == (broken["run"], broken["run"], 2)
    assert last_run(world.store)["spend"]["total"]["calls"] == world.endpoint.calls == ASKED


def test_the_flow_run_of_an_orphan_is_marked_as_crashed(prefect_api: str, world: World, tmp_path: Path) -> None:
    from prefect.client.orchestration import get_client
    from prefect.states import Running

    from flows.deployed import answer_flow
    from flows.runs import list_runs

    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    store = Store(Folder(world.store), world.store / "cache")

    async def main() -> tuple[str, str]:
        async with get_client() as client:
            flow_run = await client.create_flow_run(answer_flow, state=Running())
            left = record.find(store, ended.run).model_copy(update={"status": "running", "prefect": str(flow_run.id)})
            left.save(store)
            (row,) = await list_runs(store, most=0)
            marked = await client.read_flow_run(flow_run.id)
            assert marked.state and f"resume {ended.run}" in (marked.state.message or "")
            return row.status, marked.state.name or ""

    assert asyncio.run(main()) == ("orphaned", "Crashed")


def leave_untold(store: Store, run: str, count: int) -> list[str]:
    """So many copies of a run that no server has heard of, whose process is gone."""
    copies = [f"20260101-0000{number:02}000-{number:08}" for number in range(count)]
    for copy in copies:
        changes = {"run": copy, "untold": True, "prefect": str(uuid.uuid4()), "process": 2**22 + 1}
        record.find(store, run).model_copy(update=changes).save(store)
    return copies


def untold(store: Store) -> int:
    return sum(found.untold for found in record.all_of(store))


def test_a_server_that_hangs_is_asked_once_however_many_runs_it_has_not_heard_of(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from flows import runs

    ended = world.answer(make_folder(tmp_path / "shop"), tmp_path / "out")
    store = Store(Folder(world.store), world.store / "cache")
    leave_untold(store, ended.run, 20)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}/api"
        monkeypatch.setenv("PREFECT_API_URL", url)
        assert len(listed(world, "-n", "0")) == 21
        hanging.setblocking(False)
        hanging.accept()[0].close()  # the one look whether it is there
        with pytest.raises(BlockingIOError):
            hanging.accept()
        monkeypatch.setattr(runs, "_TELL_SECONDS", 0.5)  # it answered then, and hangs now
        with temporary_settings({PREFECT_API_URL: url}):
            assert len(asyncio.run(runs.list_runs(store, most=0))) == 21
    assert untold(store) == 20


def test_a_server_that_is_back_hears_of_every_run_at_once(prefect_api: str, world: World, tmp_path: Path) -> None:
    from flows.runs import list_runs

    ended = world.answer(make_folder(tmp_path / "店"), tmp_path / "out")
    store = Store(Folder(world.store), world.store / "cache")
    leave_untold(store, ended.run, 20)
    asyncio.run(list_runs(store, most=0, tell=False))
    assert untold(store) == 20
    asyncio.run(list_runs(store, most=0))
    assert untold(store) == 0
