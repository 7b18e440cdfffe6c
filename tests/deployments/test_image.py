"""deployments/Dockerfile as far as it goes without Docker: its steps in their order, over the files that it copies and no others."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from endpoint import Endpoint
from world import ANSWER, ASKED, ROOT, make_folder, solver

from tasks.core.settings import load

TEXT = (ROOT / "deployments" / "Dockerfile").read_text("utf-8")
STEPS = [
    tuple(line.split(None, 1))
    for line in re.sub(r"\\\n\s*", " ", TEXT).splitlines()
    if line.strip() and not line.startswith("#")
]
IGNORED = (ROOT / ".dockerignore").read_text("utf-8").split()


def said(kind: str) -> list[str]:
    """What follows on each instruction of that kind."""
    return [rest for name, rest in STEPS if name == kind]


def copied() -> list[tuple[str, str]]:
    """(source, target) of every COPY."""
    found = []
    for rest in said("COPY"):
        *sources, target = rest.split()
        found += [(source, source if target == "./" else target) for source in sources]
    return found


def is_sent(path: Path) -> bool:
    """Whether Docker is given a file of the checkout, by the last rule of .dockerignore that meets it or a folder above."""
    name, sent = path.relative_to(ROOT).as_posix(), True
    parts = [name, *(str(above) for above in Path(name).parents if above != Path())]
    for rule in IGNORED:
        pattern = rule.removeprefix("!").removeprefix("**/")
        met = any(fnmatch(part, pattern) or fnmatch(Path(part).name, pattern) * rule.startswith("**") for part in parts)
        sent = rule.startswith("!") if met else sent
    return sent


def test_every_lock_and_folder_that_a_step_needs_was_copied_before_it() -> None:
    there: set[str] = set()
    arguments = dict(rest.replace('"', "").split("=", 1) for rest in said("ARG"))
    for name, rest in STEPS:
        if name == "COPY":
            *sources, _ = rest.split()
            assert all((ROOT / source).exists() and is_sent(ROOT / source) for source in sources), rest
            there |= set(sources)
        if name == "RUN" and "--require-hashes" in rest:
            locks = re.findall(r"for lock in (.*?);", rest)[0].replace("${LOCKS}", arguments["LOCKS"]).split()
            assert locks and set(locks) <= there, locks
        if name == "RUN" and "compileall" in rest:
            assert {"flows", "tasks", "pyproject.toml", "README.md", "LICENSE"} <= there
    assert {"configs", "deployments"} <= there
    for secret in (".env", ".git", "data/runs", "tests"):
        assert not is_sent(ROOT / secret), secret


def test_it_runs_as_nobody_special_what_the_project_installs() -> None:
    arguments = dict(rest.replace('"', "").split("=", 1) for rest in said("ARG"))
    assert said("USER") == ["${RUN_AS}"] and int(arguments["RUN_AS"]) > 0
    kinds = [name for name, _ in STEPS]
    assert "RUN" not in kinds[kinds.index("USER") :], "nothing is installed as the user who runs it"
    command, verb = json.loads(said("ENTRYPOINT")[0])
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts[command] == "flows.cli.main:main" and verb == "container"
    (base,) = said("FROM")
    version = re.findall(r"python:(\d+\.\d+)", base)[0]
    assert f">={version}" in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]


def test_its_settings_fit_the_machine_that_it_is_made_for() -> None:
    settings = load("container")
    assert settings.store.folder == Path("/tmp/tablewright") and not settings.store.block
    assert settings.endpoints["main"].concurrency == 16 and settings.machines.runner == "here"
    assert not any(endpoint.serve for endpoint in settings.endpoints.values())
    environment = dict(one.split("=", 1) for one in said("ENV")[0].split())
    assert environment["HOME"] == "/tmp" and environment["DO_NOT_TRACK"] == "1"


@pytest.mark.slow
def test_the_files_that_it_copies_answer_a_task_by_its_entry_point(tmp_path: Path) -> None:
    app, places = tmp_path / "app", {name: tmp_path / name for name in ("input", "output", "logs")}
    for source, target in copied():
        if (ROOT / source).is_dir():
            skip = lambda folder, names: [name for name in names if not is_sent(Path(folder) / name)]  # noqa: E731
            shutil.copytree(ROOT / source, app / target, ignore=skip)
        else:
            app.mkdir(exist_ok=True)
            shutil.copy(ROOT / source, app / target)
    assert not [*app.rglob("__pycache__")] and (app / "tasks" / "document" / "prompts").is_dir()
    (compiling,) = [rest for rest in said("RUN") if "compileall" in rest]
    step = next(part for part in compiling.split("&&") if "compileall" in part)
    subprocess.run([sys.executable, *shlex.split(step)[1:]], cwd=app, check=True, timeout=300)
    make_folder(places["input"] / "task_1")
    with Endpoint(solver) as endpoint:
        environment = dict(one.split("=", 1) for one in said("ENV")[0].split())
        environment |= {"MODEL_API_URL": endpoint.url, "MODEL_NAME": "scripted", "MODEL_API_KEY": "key"}
        environment |= {"PYTHONPATH": str(app), "TABLEWRIGHT_STORE": str(tmp_path / "store"), "HOME": str(tmp_path)}
        code = f"import flows, tasks; assert flows.__file__.startswith({str(app)!r}); from flows.cli.main import main; main()"
        where = [f"--{name}={place}" for name, place in places.items()]
        command = [sys.executable, "-c", code, json.loads(said("ENTRYPOINT")[0])[1], *where]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", timeout=600
        )
    assert done.returncode == 0, done.stderr
    assert (places["output"] / "task_1" / "prediction.csv").read_text("utf-8") == ANSWER and endpoint.calls == ASKED
    assert "1 of 1: task_1 approved" in (places["logs"] / "runtime.log").read_text("utf-8")
