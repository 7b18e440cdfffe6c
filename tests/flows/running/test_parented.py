"""What `serve` starts ends with it, also when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from world import ROOT, World, free_port, wait_for

from flows.running import server

STARTER = """
import os, sys, time
folder = sys.argv.pop(1)
from tasks.core import process
child = process.start([sys.executable, "-m", "flows.running.parented", str(os.getpid()), *sys.argv[1:]], cwd=folder)
time.sleep(600)
"""
STUBBORN = """
import signal, subprocess, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "600"])
Path("begun").write_text(" ".join(sys.argv))
time.sleep(600)
"""


def in_folder(folder: Path) -> list[int]:
    """Processes that work in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            at = (path / "cwd").readlink()
            gone = (path / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            continue
        if at == folder and not gone:
            found.append(int(path.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_module_and_its_children_end_with_the_parent_that_is_killed(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    command = [sys.executable, "-c", STARTER, str(tmp_path), "stubborn", "店"]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT}"}) as starter:
        begun = tmp_path / "begun"
        wait_for(lambda: begun.is_file() and begun.read_text() and len(in_folder(tmp_path)) == 2, "it does not begin")
        assert begun.read_text("utf-8").endswith("店")
        starter.send_signal(how)
    wait_for(lambda: not in_folder(tmp_path), "it goes on without its parent")


@pytest.mark.slow
@pytest.mark.service
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
def test_the_server_of_serve_ends_with_it(world: World, how: signal.Signals) -> None:
    url = f"http://127.0.0.1:{free_port()}/api"
    world.environment |= {"PREFECT_API_URL": url, "PREFECT_HOME": str(world.root / "prefect")}
    serve = world.start("serve")
    assert serve.stdout and "UI:" in serve.stdout.readline() and server.healthy(url, 30)
    serve.send_signal(how)
    assert serve.wait(60) == (-how if how == signal.SIGKILL else 0)
    wait_for(lambda: not server.healthy(url, 1), "its server goes on without it")
    for stream in (serve.stdout, serve.stderr):
        assert stream
        stream.close()
