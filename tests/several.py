"""Several machines, each as processes of its own here → a batch that loses one of them half way and ends complete, with nothing asked twice.

`python tests/several.py` (or `make machines`) starts PostgreSQL, a Prefect server on it, an S3 server with the store, and an endpoint whose model
answers by a script; then for each way to run questions two machines of their own (`pool`: process workers of a work pool, `dask`: workers of a Dask
cluster), each with its own cache. When half of the replies were given, one machine is killed with all its processes (kill -9). Exit code 1 when an answer is missing or wrong, a prompt was asked twice that was not on its way at the kill,
or more requests were under way than allowed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from endpoint import Delay, Endpoint  # noqa: E402
from s3 import Bucket, serving  # noqa: E402
from servers import Server, postgresql  # noqa: E402
from throughput import line, make_tasks  # noqa: E402
from world import ASKED, World, free_port, solver, wait_for  # noqa: E402

WAYS = ("pool", "dask")
PROCESSES = 2
"""Questions at once on each of the two machines, and requests that each machine may have under way."""
LACKING = 3
"""Exit code where a part is not installed."""
_SECONDS = 7200
_COLUMNS = ("questions run as", "tasks", "right", "calls", "asked again", "allowed to be on their way at the kill", "most requests at once, allowed",
            "took s", "after the kill s")  # fmt: skip


class Measured(NamedTuple):
    """One batch."""

    way: str
    tasks: int
    right: int
    calls: int
    again: int
    flying: int
    most: int
    seconds: float
    after: float

    @property
    def good(self) -> bool:
        """Whether it is as it shall be."""
        whole = self.right == self.tasks and self.calls == self.tasks * ASKED + self.again
        return whole and self.again <= self.flying <= PROCESSES and self.most <= 2 * PROCESSES

    def cells(self) -> list[Any]:
        """A row of the table."""
        return [self.way, self.tasks, self.right, self.calls, self.again, self.flying, f"{self.most}, {2 * PROCESSES}",
                f"{self.seconds:.0f}", f"{self.after:.0f}"]  # fmt: skip


class Scene(NamedTuple):
    """What the machines share."""

    root: Path
    endpoint: Endpoint
    variables: dict[str, str]
    bucket: Bucket

    def world(self, machine: str) -> World:
        """tablewright on one of them: its cache is its own."""
        root = self.root / machine
        root.mkdir(exist_ok=True)
        return World(root, self.endpoint, self.variables)


@contextlib.contextmanager
def parts(root: Path, delay: float) -> Iterator[Scene]:
    """PostgreSQL, a Prefect server on it, S3, the model. Skips where one of them is not installed."""
    from flows.running import server

    api = f"http://127.0.0.1:{free_port()}/api"
    with contextlib.ExitStack() as opened:
        database = opened.enter_context(postgresql(connections=100))
        bucket = Bucket(opened.enter_context(serving()), "several")
        bucket.make()
        endpoint = opened.enter_context(Endpoint(lambda body: Delay(delay, solver(body))))
        variables = {
            **bucket.variables(),
            "TABLEWRIGHT_STORE_BLOCK": bucket.url,
            "PREFECT_API_URL": api,
            "PREFECT_HOME": str(root / "prefect"),
            "PREFECT_WORKER_QUERY_SECONDS": "2",
            "PREFECT_API_DATABASE_CONNECTION_URL": database_url(database),
            "PREFECT_LOGGING_TO_API_ENABLED": "false",
            "DO_NOT_TRACK": "1",
        }
        os.environ.update(variables)
        log = opened.enter_context((root / "server.log").open("w"))
        opened.enter_context(server.running(api, log, 300))
        yield Scene(root, endpoint, variables, bucket)


def database_url(database: Server) -> str:
    """As Prefect wants it."""
    return database.url.replace("postgresql://", "postgresql+asyncpg://") + "postgres"


def run(scene: Scene, way: str, count: int) -> Measured:
    """One batch over two machines, of which one is lost."""
    asked = len(scene.endpoint.requests)
    make_tasks(scene.root / way / "in", count, way)
    profile = scene.root / f"{way}.toml"
    with contextlib.ExitStack() as opened:
        scheduler = opened.enter_context(dask_scheduler(scene)) if way == "dask" else ""
        profile.write_text(
            f'[machines]\nrunner = "{way}"\nscheduler = "{scheduler}"\nshares = {shares(way)}\nbeat_seconds = 3\nlost_seconds = 60\n'
            f"[endpoints.main]\nconcurrency = {2 * PROCESSES}\n"
        )
        if way == "pool":
            deploy(scene)
        machines = [opened.enter_context(machine(scene, way, name, scheduler)) for name in ("east", "west")]
        began = time.monotonic()
        out = scene.root / way / "out"
        arguments = ("--json", "--profile", str(profile), "--concurrency", str(2 * PROCESSES))
        batch = scene.world("desk").start("batch", str(scene.root / way / "in"), str(out), *arguments)
        try:
            half = asked + count * ASKED // 2
            wait_for(lambda: len(scene.endpoint.requests) >= half or batch.poll() is not None, seconds=_SECONDS)
            most, flying = scene.endpoint.most_at_once, kill(machines[0])
            killed = time.monotonic()
            said, err = batch.communicate(timeout=_SECONDS)
        finally:
            batch.kill()
    ended = time.monotonic()
    prompts = Counter(json.dumps(body, sort_keys=True) for body in scene.endpoint.requests[asked:])
    right = sum(right_answer(out / f"task_{number}", number) for number in range(count))
    if right < count:
        sys.stderr.write(err[-3000:] + said[-3000:])
    return Measured(
        way,
        count,
        right,
        sum(prompts.values()),
        sum(prompts.values()) - len(prompts),
        flying,
        most,
        ended - began,
        ended - killed,
    )


def shares(way: str) -> int:
    """Processes that ask side by side: a flow run is one, a Dask worker with its threads too."""
    return 2 * PROCESSES if way == "pool" else 2


def right_answer(out: Path, number: int) -> bool:
    """Whether the prediction is that of its task's data."""
    try:
        return (out / "prediction.csv").read_text("utf-8") == f"category,n\ncake,{number % 7 + 2}\n茶,2\n"
    except OSError:
        return False


@contextlib.contextmanager
def machine(scene: Scene, way: str, name: str, scheduler: str) -> Iterator[int]:
    """The process id of a worker, with a store's cache of its own."""
    command = ["prefect", "worker", "start", "--pool", "tablewright", "--limit", str(PROCESSES), "--name", name]
    if way == "dask":
        command = [
            "dask",
            "worker",
            scheduler,
            "--nthreads",
            str(PROCESSES),
            "--no-dashboard",
            "--no-nanny",
            "--name",
            name,
        ]
    with running(command, scene.world(name), scene.root / f"{way}-{name}.log") as process:
        yield process.pid


@contextlib.contextmanager
def dask_scheduler(scene: Scene) -> Iterator[str]:
    """Its address."""
    port = free_port()
    command = ["dask", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with running(command, scene.world("desk"), scene.root / "scheduler.log"):
        yield f"tcp://127.0.0.1:{port}"


@contextlib.contextmanager
def running(command: list[str], world: World, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A module's command as a process; it and all that it started are killed in the end."""
    environment = {**os.environ, **world.variables(), "PYTHONPATH": str(ROOT)}
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, "-m", *command], cwd=world.root, env=environment, stdout=file, stderr=file
        ) as process,
    ):
        try:
            yield process
        finally:
            kill(process.pid)


def kill(process: int) -> int:
    """Kill a machine: this process and all below it, at once. Gives how many of its questions can have been asking, one request each."""
    found = below(process)
    for one in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)  # so that none can tell another that something ends
    for one in {*found, *below(process)}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    return PROCESSES


def below(process: int) -> list[int]:
    """A process and those that it or they have started."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(path.name)] = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def deploy(scene: Scene) -> None:
    """The work pool and what of deployments/prefect.yaml runs in it."""
    for command in (("work-pool", "create", "tablewright", "--type", "process", "--overwrite"),
                    ("deploy", "--prefect-file", "deployments/prefect.yaml", "--name", "questions")):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *command], cwd=ROOT, env={**os.environ, **scene.variables},
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def main(show: Callable[[str], None] = print) -> int:
    """Run each way; one row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--delay", type=float, default=2.0, help="seconds of one reply")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS)
    given = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    show(f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load at the start {load}\n")
    show(line(_COLUMNS) + "\n" + line(["---"] * len(_COLUMNS)))
    good = True
    try:
        with tempfile.TemporaryDirectory() as scratch, parts(Path(scratch), given.delay) as scene:
            for way in given.ways:
                measured = run(scene, way, given.tasks)
                show(line(measured.cells()))
                good &= measured.good
    except pytest.skip.Exception as lacking:
        show(f"not run: {lacking}")
        return LACKING
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
