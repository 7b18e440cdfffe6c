"""A real Prefect server and a worker of a process pool that die under a run → what became of it, and going on with it in three ways.

Each is killed by `kill -9` while the model is asked for the third time. `interruptions.py` writes the table.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from endpoint import Endpoint
from world import ASKED, ROOT, World, files, free_port, make_folder, solver, wait_for

from flows.running import server

WAYS = ("retry", "resume", "again")
START_SECONDS, RUN_SECONDS = 180, 300
"""On a busy machine; 10 s and 8 s on a quiet one."""
LATE_SECONDS = 6
"""A worker may report a crash this late; a retry before that would be overwritten by the report."""
OVER = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


class Gate:
    """The scripted model; its third reply waits until it is opened."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self._seen = 0

    def __call__(self, body: dict[str, Any]) -> Any:
        self._seen += 1
        if self._seen == 3:
            self.open.wait(RUN_SECONDS)
        return solver(body)


class Site:
    """A server with its database, a worker and our deployments; each in a process group of its own."""

    def __init__(self, root: Path, endpoint: Endpoint) -> None:
        self.url = f"http://127.0.0.1:{free_port()}/api"
        own = {**server.variables(self.url), "PREFECT_HOME": str(root / "prefect"), "TABLEWRIGHT_ROOTS": str(root)}
        self.world = World(root, endpoint, {**own, "PREFECT_WORKER_QUERY_SECONDS": "1"})
        self.server: subprocess.Popen[bytes] | None = None
        self.worker: subprocess.Popen[bytes] | None = None
        self.log = (root / "site.log").open("ab")

    def start(self) -> None:
        """Start what does not run."""
        if not self.server or self.server.poll() is not None:
            self.server = self._prefect("server", "start")
            wait_for(lambda: server.healthy(self.url, 5), "the server does not start", START_SECONDS)
        if not self.worker or self.worker.poll() is not None:
            self.worker = self._prefect("worker", "start", "--pool", "tablewright")

    def deploy(self) -> None:
        """Make the work pool and the deployments."""
        self.server = self._prefect("server", "start")
        wait_for(lambda: server.healthy(self.url, 5), "the server does not start", START_SECONDS)
        for arguments in (
            ("work-pool", "create", "tablewright", "--type", "process", "--overwrite"),
            ("--no-prompt", "deploy", "--prefect-file", "deployments/prefect.yaml", "--all"),
        ):
            assert self._prefect(*arguments).wait(START_SECONDS) == 0, (self.world.root / "site.log").read_text()[
                -2000:
            ]
        self.start()

    def submit(self, folder: Path, out: Path) -> str:
        """A run of the deployment; its id."""
        request = {"folder": str(folder), "out": str(out), "as_of": "2026-01-31"}
        deployment = self.ask("GET", "/deployments/name/answer/tables")["id"]
        made = self.ask("POST", f"/deployments/{deployment}/create_flow_run", json={"parameters": {"request": request}})
        return str(made["id"])

    def state(self, run: str) -> str:
        """Type of the run's state."""
        return str(self.ask("GET", f"/flow_runs/{run}")["state_type"])

    def retry(self, run: str) -> None:
        """What the Retry button of the UI sends."""
        state = {"type": "SCHEDULED", "name": "AwaitingRetry", "message": "Retry from the UI"}
        said = self.ask("POST", f"/flow_runs/{run}/set_state", json={"state": state})
        assert said["status"] == "ACCEPT", said

    def process(self, run: str) -> int | None:
        """Id of the process that executes the run."""
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if run.encode() in (path / "environ").read_bytes() and b"prefect" in (path / "cmdline").read_bytes():
                    return int(path.name)
        return None

    def kill(self, which: subprocess.Popen[bytes] | None) -> None:
        """`kill -9` of server or worker."""
        assert which
        os.killpg(which.pid, signal.SIGKILL)
        which.wait()

    def end(self) -> None:
        """End both."""
        for which in (self.worker, self.server):
            if which and which.poll() is None:
                which.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    which.wait(20)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(which.pid, signal.SIGKILL)
                which.wait()
        self.log.close()

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """A busy server over SQLite answers 503 now and then."""
        for _ in range(50):
            with contextlib.suppress(httpx.TransportError):
                reply = httpx.request(method, f"{self.url}{path}", timeout=60, **more)
                if reply.status_code != 503:
                    return reply.raise_for_status().json()
            time.sleep(0.2)
        raise AssertionError(f"{path}: no answer")

    def _prefect(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=ROOT,
            env={**os.environ, **self.world.variables()},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )


@dataclass(frozen=True)
class Outage:
    """What is killed under a run while its third request is open."""

    name: str
    kill: tuple[str, ...]
    """Of `server`, `worker` and `run`, in this order."""
    back: bool = False
    """Whether the server is started again before the reply arrives; else when the run's process has ended."""
    lost: int = 1
    """Requests that are cut off, and asked for once more."""


OUTAGES = (
    Outage("kill -9 of the run's process", ("run",)),
    Outage("kill -9 of the worker alone", ("worker",), lost=0),
    Outage("kill -9 of the worker and the run's process", ("worker", "run")),
    Outage("kill -9 of the server, back before the model replies", ("server",), back=True, lost=0),
    Outage("kill -9 of the server, back when the run has ended", ("server",), lost=0),
    Outage("kill -9 of server, worker and the run's process", ("server", "worker", "run")),
)


class Trial:
    """One site, one folder, an undisturbed run, and a new store for each case."""

    def __init__(self, root: Path, endpoint: Endpoint) -> None:
        self.root, self.site = root, Site(root, endpoint)
        self.folder = make_folder(root / "shop")
        self.site.deploy()
        self._fresh()
        self._completed(self.site.submit(self.folder, root / "out"))
        self.whole = files(root / "out")
        assert self._calls == ASKED and self.whole

    def case(self, outage: Outage, way: str) -> tuple[str, str]:
        """How the run ended, and `equal` or what is wrong after going on in this way."""
        site, out = self.site, self.root / "out"
        site.start()
        gate = self._fresh()
        run = site.submit(self.folder, out)
        wait_for(lambda: self._calls == 3, "the model is not asked", RUN_SECONDS)
        pid = wait_for(lambda: site.process(run))
        self._strike(outage, pid, gate)
        wait_for(
            lambda: not Path(f"/proc/{pid}").exists(), "the run's process does not end", 2 * RUN_SECONDS
        )  # Prefect tries for five minutes to reach its server
        site.start()
        time.sleep(LATE_SECONDS)
        found = self._listed()
        ended = f"{found['status']}, {site.state(run).lower()}"
        if site.state(run) not in OVER:
            return ended, "is not marked"
        said = self._go_on(run, found["run"], way)
        if said or (now := files(out)) != self.whole:
            return ended, said or f"differs: {', '.join(sorted(n for n in now if now[n] != self.whole.get(n)))}"
        return ended, "equal" if self._calls <= ASKED + outage.lost else f"{self._calls - ASKED} calls too many"

    @property
    def _calls(self) -> int:
        return self.site.world.endpoint.calls

    def _fresh(self) -> Gate:
        for name in ("store", "out"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        gate = Gate()
        self.site.world.endpoint.requests.clear()
        self.site.world.endpoint.replies = gate
        if not hasattr(self, "whole"):
            gate.open.set()
        return gate

    def _strike(self, outage: Outage, pid: int, gate: Gate) -> None:
        for which in outage.kill:
            if which == "run":
                os.kill(pid, signal.SIGKILL)
            else:
                self.site.kill(self.site.server if which == "server" else self.site.worker)
        if outage.back:
            self.site.start()
        gate.open.set()

    def _listed(self) -> dict[str, Any]:
        """The run as `tablewright runs` lists it, which marks it where its process is gone."""
        done = self.site.world.run("runs", "--json", seconds=RUN_SECONDS)
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        assert len(found) == 1, found
        return found[0]

    def _go_on(self, flow_run: str, run: str, way: str) -> str:
        if way == "resume":
            done = self.site.world.run("resume", run, seconds=RUN_SECONDS)
            return f"exit code {done.returncode}: {done.stderr[-300:]}" if done.returncode else ""
        if way == "retry":
            self.site.retry(flow_run)
        else:
            flow_run = self.site.submit(self.folder, self.root / "out")
        return self._completed(flow_run)

    def _completed(self, run: str) -> str:
        wait_for(lambda: self.site.state(run) in OVER, "the run does not end", RUN_SECONDS)
        state = self.site.state(run)
        return "" if state == "COMPLETED" else state


@contextlib.contextmanager
def trial(root: Path) -> Iterator[Trial]:
    """Server and worker, until the end of the block."""
    with Endpoint(solver) as endpoint:
        made = Trial.__new__(Trial)
        try:
            made.__init__(root, endpoint)  # type: ignore[misc]
            yield made
        finally:
            made.site.end()


def rows(root: Path, only: str, show: Callable[[str], None]) -> list[tuple[str, str, list[str]]]:
    """Each outage with how the run ended and what each way of going on gave."""
    found: list[tuple[str, str, list[str]]] = []
    with trial(root) as made:
        for outage in (outage for outage in OUTAGES if only in outage.name):
            results = [made.case(outage, way) for way in WAYS]
            found.append((outage.name, results[0][0], [cell for _, cell in results]))
            show(f"{outage.name:<54} {results[0][0]:<22} {' '.join(cell for _, cell in results)}")
    return found
