"""Progress on a terminal, and none elsewhere."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from world import ROOT, World, children_of, last_run, make_folder, slow_after, wait_for

from flows.cli.progress import Progress
from tasks import stage


def test_progress_names_what_runs_what_ended_and_how() -> None:
    from rich.console import Console

    progress = Progress()
    events: list[tuple[str, stage.StageEvent, float]] = [
        ("take_inventory", "start", 0),
        ("take_inventory", "done", 0.2),
        ("build_catalogue", "start", 0),
        ("build_catalogue", "cached", 0.1),
        ("write_contract", "start", 0),
        ("write_contract", "retry", 2),
        ("write_contract", "failed", 9),
        ("solve_question", "start", 0),
    ]
    for event in events:
        progress.hear(*event)
    progress.say("starting the local model")
    console = Console(width=80)
    with console.capture() as captured:
        console.print(progress)
    lines = captured.get().splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["✓", "=", "↻", "✗"]
    assert "from an earlier run" in lines[1] and "tried again in 2 s" in lines[2]
    assert "solve question" in lines[4] and lines[5] == "starting the local model"


@pytest.mark.slow
def test_a_terminal_sees_the_stages(world: World, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from flows.cli.main import main; main()"]
    arguments = ["answer", str(make_folder(tmp_path / "shop")), "--no-prefect"]
    environment = {**os.environ, **world.variables(), "TERM": "xterm"}
    with subprocess.Popen(command + arguments, cwd=ROOT, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            seen += part
            if not part:
                break
    text = seen.decode()
    assert process.returncode == 0 and "solve question" in text and "茶" in text


@pytest.mark.slow
@pytest.mark.service
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("in_prefect", [False, True])
def test_an_interrupted_answer_ends_with_130_and_leaves_no_process(
    request: pytest.FixtureRequest, world: World, tmp_path: Path, kind: signal.Signals, in_prefect: bool
) -> None:
    if in_prefect:
        world.environment["PREFECT_API_URL"] = request.getfixturevalue("server_url")
    world.endpoint.replies = slow_after(1, 120)
    with world.start("answer", str(make_folder(tmp_path / "shop")), start_new_session=True) as process:
        wait_for(lambda: world.endpoint.calls > 1)
        process.send_signal(kind)
        os.killpg(process.pid, kind)  # as `timeout` does, to its child and to the group
        _, said = process.communicate(timeout=90)
    ours = [line for line in said.splitlines() if not line.startswith("no Prefect server")]
    assert process.returncode == 130 and ours == [
        f"interrupted; `tablewright resume {last_run(world.store)['run']}` goes on"
    ]
    assert not children_of(process.pid) and last_run(world.store)["status"] == "interrupted"


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_answer_says_so_as_json(world: World, tmp_path: Path, kind: signal.Signals) -> None:
    script = f"""
import os
from tasks import stage
def hear(name, event, seconds):
    if (name, event) == ("write_contract", "start"):
        os.kill(os.getpid(), {int(kind)})
        os.kill(os.getpid(), {int(kind)})
stage.listener.set(hear)
"""
    folder = make_folder(tmp_path / "shop")
    done = world.run("answer", str(folder), "--no-prefect", "--json", script=script)
    said, run = json.loads(done.stdout), last_run(world.store)
    assert done.returncode == said["exit_code"] == 130 and said["status"] == run["status"] == "interrupted"
    assert said["run"] == run["run"]
    assert done.stderr.splitlines()[-1] == f"interrupted; `tablewright resume {run['run']}` goes on"
    assert "Traceback" not in done.stderr and "never retrieved" not in done.stderr
    assert world.endpoint.calls <= 1  # the first may be on its way before the signal is heard; none follows


def test_an_interrupted_document_run_says_how_it_goes_on(world: World, tmp_path: Path) -> None:
    script = f"""
import os
from tasks import stage
def hear(name, event, seconds):
    if (name, event) == ("take_inventory", "start"):
        os.kill(os.getpid(), {int(signal.SIGTERM)})
stage.listener.set(hear)
"""
    done = world.run("document", str(make_folder(tmp_path / "shop")), script=script)
    run = last_run(world.store)
    assert (done.returncode, run["status"], run["flow"]) == (130, "interrupted", "document")
    assert done.stderr.splitlines() == [f"interrupted; `tablewright resume {run['run']}` goes on"]
