"""A Prefect server that is killed, or hangs, under a command: its answers are delivered all the same, and one warning says so."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world import ANSWER, ASKED, ROOT, World, files, free_port, last_run, make_folder, solver, wait_for

from flows.running import server
from flows.running.link import Link, Witness, through, witnessed
from tasks.core.errors import InputError
from tasks.core.settings import Settings

START_SECONDS = 300
"""On a busy machine; 10 s on a quiet one."""


class Mortal:
    """A real server over a database of its own that outlives it."""

    def __init__(self, root: Path) -> None:
        self.url, self.root = f"http://127.0.0.1:{free_port()}/api", root
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def variables(self) -> dict[str, str]:
        return {**server.variables(self.url), "PREFECT_HOME": str(self.root / "prefect")}

    def start(self) -> None:
        with (self.root / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prefect", "server", "start"], cwd=ROOT, env={**os.environ, **self.variables},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        wait_for(lambda: server.healthy(self.url, 5), "the server does not start", START_SECONDS)

    def strike(self, how: signal.Signals = signal.SIGKILL) -> None:
        assert self.process
        os.killpg(self.process.pid, how)

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            self.strike()
            self.process.wait()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Mortal:
    """One database for all of them: making it takes longer than a start."""
    return Mortal(tmp_path_factory.mktemp("mortal"))


@pytest.fixture
def mortal(home: Mortal) -> Iterator[Mortal]:
    home.start()
    try:
        yield home
    finally:
        home.end()


def at(mortal: Mortal, name: str, event: str, how: signal.Signals = signal.SIGKILL) -> str:
    """A script that strikes the server at an event of a stage."""
    assert mortal.process
    return f"""
import os
from tasks import stage
def hear(*seen):
    if seen[:2] == {(name, event)!r}:
        os.killpg({mortal.process.pid}, {int(how)})
stage.listener.set(hear)
"""


def when_probed(mortal: Mortal) -> str:
    """A script that strikes the server just when it was found healthy."""
    assert mortal.process
    return f"""
import os
from flows.running import server
reach = server.reach
def reached(prefect):
    found = reach(prefect)
    os.killpg({mortal.process.pid}, {int(signal.SIGKILL)})
    return found
server.reach = reached
"""


def ready(world: World, mortal: Mortal) -> tuple[str, str]:
    """Arguments of a profile that does not wait long."""
    world.environment |= mortal.variables
    path = world.root / "quick.toml"
    path.write_text("[prefect]\nlost_seconds = 2\n")
    return "--profile", str(path)


def check_told(mortal: Mortal, stderr: str) -> None:
    """One warning, and nothing else."""
    (line,) = stderr.splitlines()
    assert line.startswith(f"warning: the Prefect server at {mortal.url} went away: ") and "`tablewright runs`" in line


@pytest.mark.slow
@pytest.mark.service
@pytest.mark.parametrize("place", ["begin", "intake", "model", "delivery", "end", "hung at the end"])
def test_an_answer_is_delivered_though_the_server_is_lost(
    world: World, mortal: Mortal, tmp_path: Path, place: str
) -> None:
    folder, profile = make_folder(tmp_path / "shop"), ready(world, mortal)
    script = {
        "begin": when_probed(mortal),
        "intake": at(mortal, "take_inventory", "start"),
        "model": "",
        "delivery": at(mortal, "deliver", "start"),
        "end": at(mortal, "deliver", "done"),
        "hung at the end": at(mortal, "deliver", "done", signal.SIGSTOP),
    }[place]

    def replies(body: dict[str, Any]) -> Any:
        if place == "model" and world.endpoint.calls == 3:
            mortal.strike()
        return solver(body)

    world.endpoint.replies = replies
    arguments = ("answer", str(folder), "--as-of", "2026-01-31", "--json", *profile)
    done = world.run(*arguments, "--out", str(tmp_path / "out"), script=script, seconds=600)
    assert done.returncode == 0, done.stderr
    check_told(mortal, done.stderr)
    said, run = json.loads(done.stdout), last_run(world.store)
    assert (said["status"], run["status"], run["tries"], world.endpoint.calls) == ("approved", "approved", 1, ASKED)
    assert [warning for warning in said["warnings"] if "went away" in warning] == said["warnings"]
    plain = world.run(*arguments, "--out", str(tmp_path / "plain"), "--no-prefect", seconds=600)
    assert plain.returncode == 0 and files(tmp_path / "out") == files(tmp_path / "plain")
    assert world.endpoint.calls == ASKED and run["untold"] is (place != "begin")


@pytest.mark.slow
@pytest.mark.service
def test_a_batch_goes_on_without_its_server_and_a_server_that_is_back_is_told(
    world: World, mortal: Mortal, tmp_path: Path
) -> None:
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    profile = ready(world, mortal)
    for name in ("one", "two"):
        make_folder(tmp_path / "in" / name, f"How many orders are there per category in {name}? 多少订单")

    def replies(body: dict[str, Any]) -> Any:
        if world.endpoint.calls == 3:
            mortal.strike()
        return solver(body)

    world.endpoint.replies = replies
    arguments = ("batch", str(tmp_path / "in"), str(tmp_path / "out"), "--json", "--concurrency", "1", *profile)
    done = world.run(*arguments, seconds=600)
    assert done.returncode == 0, done.stderr
    check_told(mortal, done.stderr)
    assert json.loads(done.stdout)["counts"] == {"tasks": 2, "approved": 2} and world.endpoint.calls == 2 * ASKED
    for name in ("one", "two"):
        assert (tmp_path / "out" / name / "prediction.csv").read_text("utf-8") == ANSWER
    mortal.end()
    mortal.start()
    listed = world.run("runs", "--json", *profile, seconds=600)
    (shown,) = [row["prefect"] for row in json.loads(listed.stdout) if row["prefect"]]

    async def state() -> Any:
        async with get_client() as client:
            return (await client.read_flow_run(shown)).state

    with temporary_settings({PREFECT_API_URL: mortal.url}):
        found = asyncio.run(state())
    assert found.is_completed() and found.message.startswith("replayed and equal")
    assert not any(json.loads(path.read_text())["untold"] for path in (world.store / "runs").glob("*.json"))


def test_the_error_of_a_body_is_its_own_though_the_server_does_not_take_it(
    prefect_api: str, settings: Settings
) -> None:
    """A flow run that hangs after its body ended, as when the server that should hear of it hangs."""
    warned: list[str] = []
    chosen = settings.prefect.model_copy(update={"lost_seconds": 0.2})  # nobody listens there
    link, asked = Link(chosen, warned.append), []

    async def fails() -> None:
        raise InputError("no such folder 没有")

    async def flow() -> None:
        try:
            await witnessed(fails())
        finally:
            await asyncio.Event().wait()

    async def plainly(run: str) -> None:
        asked.append(run)

    with pytest.raises(InputError, match="no such folder"):
        asyncio.run(through(link, Witness(opens=False), flow, plainly))
    assert not asked and len(warned) == 1 and chosen.api_url in warned[0]
    asyncio.run(through(link, Witness(opens=False), flow, plainly))  # lost as it is, it is not used again
    assert asked == [""] and len(warned) == 1
