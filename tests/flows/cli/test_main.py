"""The frame of the command line: help, unexpected errors, entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from world import ROOT, World, make_folder

from flows.cli import main  # noqa: F401  it adds the commands
from flows.cli.app import as_called


def test_without_arguments_it_helps(world: World) -> None:
    done = world.call()
    assert done.returncode == 0
    for part in ("answer", "inspect", "batch", "score", "doctor", "model", "serve", "Exit codes"):
        assert part in done.stdout


def test_the_installed_command_starts_fast_and_light() -> None:
    code = "import sys; sys.argv = ['tablewright', '--help']\nfrom flows.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    loaded = set(done.stderr.split())
    assert done.returncode == 0 and "Ask a question" in done.stdout
    assert not loaded & {"prefect", "litellm", "duckdb", "pandas", "pyarrow", "pymupdf", "sqlglot", "jinja2", "httpx"}


_UNTIL_THE_FIRST_STAGE = """
import gc, os, sys
from tasks import stage
def hear(name, event, seconds):
    print(gc.get_threshold()[0], *sys.modules, file=sys.stderr, flush=True)
    os._exit(7)
stage.listener.set(hear)
"""


def loaded_before_the_first_stage(world: World, folder: Path, *how: str) -> set[str]:
    """Modules of `tablewright answer` when its first stage begins."""
    done = world.run("answer", str(make_folder(folder)), *how, script=_UNTIL_THE_FIRST_STAGE)
    assert done.returncode == 7, done.stderr
    garbage, *modules = done.stderr.splitlines()[-1].split()
    assert int(garbage) >= 50_000, "importing makes no garbage, and is not held up to look for some"
    return set(modules)


LATER = {"litellm", "duckdb", "pandas", "pyarrow", "pymupdf", "sqlglot", "jinja2", "fastapi", "sqlalchemy", "uvicorn",
         "tasks.intake.knowledge", "flows.solve", "flows.document", "flows.benchmark"}  # fmt: skip


def test_before_the_first_stage_nothing_is_imported_that_a_later_one_needs(world: World, tmp_path: Path) -> None:
    assert not loaded_before_the_first_stage(world, tmp_path / "shop", "--no-prefect") & {*LATER, "prefect", "httpx"}


@pytest.mark.service
def test_the_same_through_prefect(server_url: str, world: World, tmp_path: Path) -> None:
    world.environment |= {"PREFECT_API_URL": server_url}
    found = loaded_before_the_first_stage(world, tmp_path / "shop")
    assert "prefect" in found and not found & LATER


def test_an_unexpected_error_is_one_line_unless_asked(world: World, tmp_path: Path) -> None:
    script = "import flows.inspect\nasync def broken(*_): raise RuntimeError('[slip] of ours')\nflows.inspect.inspect = broken"
    done = world.run("inspect", str(tmp_path), script=script)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "RuntimeError: [slip] of ours" in done.stderr and "--debug" in done.stderr
    done = world.run("inspect", str(tmp_path), "--json", script=script)
    assert json.loads(done.stdout)["error"]["kind"] == "RuntimeError" and json.loads(done.stdout)["exit_code"] == 1
    done = world.run("inspect", str(tmp_path), "--debug", script=script)
    assert done.returncode == 1 and "Traceback" in done.stderr and "RuntimeError" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("answer",), ("answer", "folder", "--nope"), ("batch", "a", "b", "--deadline", "soon"), ("inspect", "a", "b")],
    ids=" ".join,
)
def test_wrong_arguments_are_json_too_when_that_is_asked(world: World, arguments: tuple[str, ...]) -> None:
    done = world.call(*arguments, "--json")
    said = json.loads(done.stdout)
    assert said["exit_code"] == done.returncode == 2 and said["error"]["kind"] == "UsageError"
    assert said["error"]["message"] in " ".join(done.stderr.split())
    done = world.call(*arguments)
    assert done.returncode == 2 and done.stdout == "" and "Usage:" in done.stderr


def test_help_and_exit_codes_are_the_same_with_json(world: World, tmp_path: Path) -> None:
    assert world.call("answer", "--help", "--json").returncode == 0
    (tmp_path / "folder").mkdir()
    done = world.call("answer", str(tmp_path / "folder"), "--", "--json")
    assert done.returncode == 2 and done.stdout == "" and "no model" not in done.stderr and "empty" in done.stderr


def test_an_argument_that_is_no_text_is_said(world: World) -> None:
    done = world.call("answer", os.fsdecode(b"f\xff"), "how many?", "--json")
    assert done.returncode == 2 and "not valid UTF-8" in json.loads(done.stdout)["error"]["message"]


def test_text_that_would_act_on_a_terminal_is_shown_as_marks(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "t.csv").write_text("id,name\n1,\x1b]0;title\x07\n2,\x9b31m\u202ered\n3,茶 ok\n", "utf-8")
    text = world.call("inspect", str(folder)).stdout
    assert "\ufffd]0;title\ufffd" in text and "\ufffd31m\ufffdred" in text and "茶 ok" in text
    assert not set("\x1b\x07\x9b\u202e") & set(text)
    whole = world.call("inspect", str(folder), "--json").stdout
    assert not set("\x1b\x07\x9b\u202e") & set(whole)
    assert "\x9b31m\u202ered" in json.dumps(json.loads(whole), ensure_ascii=False)


@pytest.mark.parametrize(
    ("given", "path", "said"),
    [
        (".venv/bin/tablewright", "/usr/bin", ".venv/bin/tablewright doctor"),
        ("/opt/my tools/tablewright", "/usr/bin", "'/opt/my tools/tablewright' doctor"),
        ("{bin}/tablewright", "{bin}", "tablewright doctor"),
        ("tablewright", "/usr/bin", "tablewright doctor"),
        ("/opt/flows/cli/main.py", "/usr/bin", "tablewright doctor"),
    ],
)
def test_a_next_step_is_a_command_as_the_user_calls_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str, path: str, said: str
) -> None:
    (tmp_path / "tablewright").write_text("#!/bin/sh\n")
    (tmp_path / "tablewright").chmod(0o755)
    monkeypatch.setattr(sys, "argv", [given.format(bin=tmp_path)])
    monkeypatch.setenv("PATH", path.format(bin=tmp_path))
    assert as_called("see `tablewright doctor`, in tablewright itself") == f"see `{said}`, in tablewright itself"


def test_the_command_of_an_error_is_printed_as_it_was_called(world: World, tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text("{}")
    script = "import sys; sys.argv[0] = '.venv/bin/tablewright'"
    done = world.run("batch", str(tmp_path), str(tmp_path / "out"), script=script)
    assert done.returncode == 2 and f"next: use `.venv/bin/tablewright answer {tmp_path}`" in done.stderr
