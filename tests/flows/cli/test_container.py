"""`tablewright container` where a container would run it: another user, sources that are read-only, no network but the model's."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boxed
import pytest
from machines import python_for
from world import ANSWER, ASKED, QUESTION, ROOT, World, make_folder


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder that another user may look into, which those of pytest are not."""
    folder = Path("/tmp") / f"tablewright-box-{tmp_path.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Box:
    """The entry point in such a place."""

    def __init__(self, folder: Path) -> None:
        self.command, why = boxed.box()
        self.python = python_for(boxed.NOBODY, folder) if self.command else ""
        if not self.python:
            pytest.skip(why or "no interpreter here that another user can run")
        self.folder = folder
        (folder / "input").mkdir()
        for name in ("output", "logs"):
            (folder / name).mkdir()
            shutil.chown(folder / name, boxed.NOBODY, boxed.NOBODY)
        self.profile = folder / "box.toml"
        self.profile.write_text(
            (ROOT / "configs" / "container.toml").read_text().replace("/tmp/", f"{folder}/output/.")
        )

    def run(self, seconds: float = 0, term_after: int = 0, *more: str) -> dict[str, Any]:
        """To its end; `seconds` a reply, SIGTERM after so many requests."""
        where = [f"--{name}={self.folder / name}" for name in ("input", "output", "logs")]
        source, how = str(self.folder / "input"), [f"--profile={self.profile}", *more]
        inside = [sys.executable, str(ROOT / "tests" / "boxed.py"), self.python, source, str(seconds), str(term_after)]
        done = subprocess.run(
            [*self.command, *inside, "container", *where, *how], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    def summary(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads((self.folder / "output" / "summary.json").read_text("utf-8"))
        return said


@pytest.mark.slow
def test_every_task_is_answered_and_the_log_tells_of_it(place: Path) -> None:
    box = Box(place)
    for number in (1, 2, 3):
        make_folder(place / "input" / f"task_{number}", f"{QUESTION} ({number})")
    (place / "input" / "task_4").mkdir(mode=0o000)
    (place / "input" / "task_5").mkdir()
    (place / "input" / "task_5" / "task.json").write_text("{}")
    (place / "input" / "task_5" / "task.json").chmod(0o000)
    told = box.run()
    assert told["network"] and told["input"], "the place is open"
    assert told["code"] == 0, told["err"]
    assert {row["task"]: row["status"] for row in box.summary()["tasks"]} == {
        **{f"task_{number}": "approved" for number in (1, 2, 3)},
        **{f"task_{number}": "error" for number in (4, 5)},
    }
    reasons = {row["task"]: row["reason"] for row in box.summary()["tasks"]}
    assert "cannot be looked into" in reasons["task_4"] and "cannot be read" in reasons["task_5"]
    for number in (1, 2, 3):
        assert (place / "output" / f"task_{number}" / "prediction.csv").read_text("utf-8") == ANSWER
    assert told["calls"] == 3 * ASKED
    log = (place / "logs" / "runtime.log").read_text("utf-8")
    assert "5 tasks of" in log and "5 of 5: " in log and re.search(r"ok +model scripted at endpoint main", log)
    assert all(line.strip() in log for line in told["err"].splitlines())


@pytest.mark.slow
def test_sigterm_leaves_a_summary_within_ten_seconds(place: Path) -> None:
    box = Box(place)
    for number in (1, 2, 3):
        make_folder(place / "input" / f"task_{number}", f"{QUESTION} ({number})")
    told = box.run(3.0, 2 * ASKED, "--concurrency=1")
    assert told["code"] == 130 and told["seconds"] < 10, told["err"]
    said = box.summary()
    assert said["ended"] == "interrupted" and said["tasks"][0]["status"] == "approved"
    assert said["tasks"][2]["status"] == "interrupted"
    assert "interrupted" in (place / "logs" / "runtime.log").read_text("utf-8")


def test_what_is_wrong_before_any_task_stands_in_the_log(world: World, tmp_path: Path) -> None:
    where = [f"--input={tmp_path / 'none'}", f"--output={tmp_path / 'out'}", f"--logs={tmp_path / 'logs'}"]
    done = world.run("container", *where)
    assert done.returncode == 2 and "there is no folder" in done.stderr
    assert "there is no folder" in (tmp_path / "logs" / "runtime.log").read_text("utf-8")
    world.environment["MODEL_NAME"] = ""
    done = world.run("container", *where)
    assert done.returncode == 2 and "no model is configured" in done.stderr
    (tmp_path / "file").write_text("")
    done = world.run("container", *where[:2], f"--logs={tmp_path / 'file'}")
    assert done.returncode == 2 and "no log in" in done.stderr


def test_the_image_holds_what_is_needed_and_runs_the_tested_command() -> None:
    lines = (ROOT / "deployments" / "Dockerfile").read_text().splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert copied and all((ROOT / name).exists() for name in copied)
    kept = (ROOT / ".dockerignore").read_text()
    assert all(f"!{name}" in kept or name.startswith("requirements") for name in copied)
    assert 'ENTRYPOINT ["tablewright", "container"]' in lines
    assert any(line.startswith("USER ") for line in lines)
