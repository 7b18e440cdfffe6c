"""`tablewright serve` with a scripted model, and Chromium at its Prefect UI: what a user does there, step by step."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
from endpoint import Endpoint
from world import World, free_port, solver, wait_for

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
PENDING = {"SCHEDULED", "PENDING", "RUNNING"}
Shoot = Callable[[Any, str], None]


class Desk:
    """A running `tablewright serve` and a browser page."""

    def __init__(self, world: World, url: str, page: Any, shoot: Shoot) -> None:
        self.world, self.url, self.page, self.shoot = world, url, page, shoot
        self.hosts: set[str] = set()
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]) if "://" in request.url else None)

    def submit(self, folder: Path, question: str, out: Path, shot: str = "") -> str:
        """Fill the form of the deployment and submit it; the id of the flow run."""
        page = self.page
        page.goto(f"{self.url}/deployments")
        page.get_by_role("link", name="tables", exact=True).click()
        page.wait_for_url("**/deployments/deployment/*")
        page.goto(f"{page.url.split('?')[0]}/run")
        for label, value in (("Folder", str(folder)), ("Question", question), ("Output folder", str(out))):
            self._field(label).fill(value)
        if shot:
            self.shoot(page, shot)
        before = {run["id"] for run in self.runs()}
        for _ in range(3):
            page.get_by_role("button", name="Submit").click()
            with contextlib.suppress(AssertionError):  # a busy server over SQLite answers 503; a user clicks again
                return str(
                    wait_for(lambda: [run["id"] for run in self.runs() if run["id"] not in before], seconds=20)[0]
                )
            page.screenshot(path=self.world.root / "not-submitted.png")
        raise AssertionError(f"the form was not taken, see {self.world.root}/not-submitted.png")

    def start(self, deployment: str, request: dict[str, Any]) -> str:
        """Start a run of a deployment by its API, as another program would; the id of the flow run."""
        name = deployment.partition("/")[2]
        known = {"deployments": {"name": {"any_": [name]}}}  # it may take `serve` a moment to register the last one
        found = wait_for(lambda: self._ask("POST", "/deployments/filter", json=known))[0]["id"]
        parameters = {"request": request}
        return str(self._ask("POST", f"/deployments/{found}/create_flow_run", json={"parameters": parameters})["id"])

    def open(self, run: str) -> None:
        """Show a flow run."""
        self.page.goto(f"{self.url}/runs/flow-run/{run}")

    def open_artifact(self, key: str) -> None:
        """Show the newest artifact of that key."""
        self.page.goto(f"{self.url}/artifacts/key/{key}")
        self.page.locator("a[href*='/artifacts/artifact/']").first.click()

    def retry(self, run: str) -> None:
        """Press the Retry button of a run that ended badly."""
        self.open(run)
        self.page.get_by_role("button", name="Retry").first.click()
        self.page.get_by_role("dialog").get_by_role("button", name="Retry").click()

    def state(self, run: str) -> dict[str, Any]:
        """The flow run as the server knows it."""
        return self._ask("GET", f"/flow_runs/{run}")

    def ended(self, run: str, seconds: float = 180) -> str:
        """Wait for the end of a run; the name of its last state."""
        wait_for(lambda: self.state(run)["state_type"] not in PENDING, seconds=seconds)
        return str(self.state(run)["state_name"])

    def runs(self) -> list[dict[str, Any]]:
        """All flow runs."""
        return self._ask("POST", "/flow_runs/filter", json={})

    def tasks(self, run: str) -> dict[str, set[str]]:
        """Last states of the run's tasks by name, over all of its attempts that the server has heard of."""
        found: dict[str, set[str]] = {}
        for task in self._ask("POST", "/task_runs/filter", json={"flow_runs": {"id": {"any_": [run]}}}):
            found.setdefault(task["name"], set()).add(task["state_name"])
        return found

    def artifacts(self, run: str) -> set[str]:
        """Keys of the artifacts that a run has made by now."""
        return {
            one["key"]
            for one in self._ask("POST", "/artifacts/filter", json={"artifacts": {"flow_run_id": {"any_": [run]}}})
        }

    def process(self, run: str) -> int:
        """Id of the process that executes the run."""
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if run.encode() in (path / "environ").read_bytes() and b"prefect" in (path / "cmdline").read_bytes():
                    return int(path.name)
        raise AssertionError(f"no process of run {run}")

    def _field(self, label: str) -> Any:
        name = self.page.locator(".schema-form-property__label", has_text=re.compile(f"^{label}"))
        return self.page.locator(".schema-form-property", has=name).last.locator("textarea")

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        """A busy server over SQLite answers 503 now and then."""
        for _ in range(20):
            reply = httpx.request(method, f"{self.url}/api{path}", timeout=30, **more)
            if reply.status_code != 503:
                return reply.raise_for_status().json()
            time.sleep(0.2)
        raise AssertionError(f"{path}: 503")


@contextlib.contextmanager
def desk(root: Path, shoot: Shoot = lambda page, name: None) -> Iterator[Desk]:
    """Server, deployments and page; all of it ends with the block."""
    from playwright.sync_api import sync_playwright

    port = free_port()
    own = {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_HOME": str(root / "prefect")}
    with Endpoint(solver) as endpoint, contextlib.ExitStack() as stack:
        world = World(
            root, endpoint, {**own, "PREFECT_LOGGING_LEVEL": "INFO", "PREFECT_LOGGING_TO_API_ENABLED": "true"}
        )
        serve = stack.enter_context(world.start("serve"))
        stack.callback(end, serve)
        assert serve.stdout and "UI:" in serve.stdout.readline()
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        yield Desk(world, f"http://127.0.0.1:{port}", page, shoot)


def end(process: Any) -> None:
    """Ctrl-C, as a user would."""
    process.send_signal(signal.SIGINT)
    print(*process.communicate(timeout=60))


def kill(pid: int) -> None:
    """What no handler sees."""
    os.kill(pid, signal.SIGKILL)
