"""The pictures of README.md and docs/prefect.md, taken from real runs and a real server: `make pictures`, or only some of them by name."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import orchards
from endpoint import Delay
from suites import make_suite
from ui import CHROMIUM, desk, kill
from world import ANSWER, ASKED, ROOT, make_folder, slow_after, solver, wait_for

TARGET = ROOT / "docs" / "pictures"
QUESTION = "How many orders are there per category?"
MOST_BYTES = 200_000


def shoot(page: Any, name: str) -> None:
    """Take a picture once the page stands still."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)
    page.screenshot(path=TARGET / f"{name}.png")
    assert (TARGET / f"{name}.png").stat().st_size < MOST_BYTES, name
    print(f"docs/pictures/{name}.png")


def report() -> None:
    """The report of the sample that `make demo` asks, answered by its recorded replies."""
    from playwright.sync_api import sync_playwright
    from samples import ask

    with tempfile.TemporaryDirectory(prefix="tablewright-pictures-") as name:
        os.environ["TABLEWRIGHT_STORE"] = str(Path(name) / "store")
        assert ask("shop", "replay", Path(name) / "out").answer.table
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 900, "height": 1130})
            page.goto((Path(name) / "out" / "report.html").as_uri())
            shoot(page, "report")
            browser.close()


def prefect() -> None:
    """Form, run, answer, killed run, retried run."""
    root = Path(tempfile.mkdtemp(prefix="tablewright-pictures-"))
    folder = make_folder(root / "shop")
    with desk(root, shoot) as at:
        at.page.set_viewport_size({"width": 1100, "height": 1250})
        run = at.submit(folder, QUESTION, root / "one", shot="form")
        at.page.set_viewport_size({"width": 1100, "height": 800})
        assert at.ended(run) == "Completed"
        at.open(run)
        shoot(at.page, "run")
        at.open_artifact("answer")
        at.page.set_viewport_size({"width": 1100, "height": 500})
        shoot(at.page, "artifact")
        artifact(at, "evidence", 900)
        at.page.set_viewport_size({"width": 1100, "height": 800})
        at.world.endpoint.replies = slow_after(2, 600)
        run = at.submit(folder, "How many orders does each category have?", root / "two")
        wait_for(lambda: at.world.endpoint.calls == ASKED + 3)
        kill(at.process(run))
        assert at.ended(run) == "Crashed"
        at.page.wait_for_timeout(5000)
        at.open(run)
        shoot(at.page, "crashed")
        at.world.endpoint.replies = solver
        at.retry(run)
        wait_for(lambda: at.state(run)["run_count"] == 2)
        assert at.ended(run) == "Completed" and (root / "two" / "answer.csv").read_text("utf-8") == ANSWER
        at.open(run)
        at.page.set_viewport_size({"width": 1100, "height": 1250})
        at.page.get_by_text("Task Runs", exact=True).first.click()
        shoot(at.page, "retried")
    shutil.rmtree(root)


def artifact(at: Any, key: str, height: int) -> None:
    """The newest artifact of that key, on its page, as a picture of that name."""
    at.open_artifact(key)
    at.page.set_viewport_size({"width": 1100, "height": height})
    shoot(at.page, key)


def sweep() -> None:
    """Plots of a benchmark's night over two setups."""
    root = Path(tempfile.mkdtemp(prefix="tablewright-pictures-"))
    suite = make_suite(root / "suite")
    with desk(root, shoot) as at:
        request = {"suites": [str(suite)], "models": ["small", "large"], "results": str(root / "results")}
        run = at.start("benchmark/suites", request)
        assert at.ended(run, 900) == "Completed"
        artifact(at, "benchmark-plots", 900)
    shutil.rmtree(root)


def documents() -> None:
    """How far a run over documents is, while the model reads them after it has planned."""
    root = Path(tempfile.mkdtemp(prefix="tablewright-pictures-"))
    with desk(root, shoot) as at:
        at.world.endpoint.replies = planned_only
        run = at.start("document/documents", {"folder": str(orchards.SAMPLE), "out": str(root / "out")})
        wait_for(lambda: "documents-progress" in at.artifacts(run))
        artifact(at, "documents-progress", 500)
        at.world.endpoint.replies = orchards.model
        kill(at.process(run))
    shutil.rmtree(root)


def planned_only(body: dict[str, Any]) -> Any:
    """A plan at once, what stands in the text later than anybody waits."""
    said = orchards.model(body)
    return said if "records_complete" in body["messages"][0]["content"] else Delay(600, said)


KINDS = {"report": report, "prefect": prefect, "sweep": sweep, "documents": documents}

if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    TARGET.mkdir(parents=True, exist_ok=True)
    for kind in sys.argv[1:] or KINDS:
        KINDS[kind]()
