"""The frame of the command line: help, unexpected errors, entry point."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from world import ROOT, World


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


def test_an_unexpected_error_is_one_line_unless_asked(world: World, tmp_path: Path) -> None:
    script = "import flows.inspect\nasync def broken(*_): raise RuntimeError('[slip] of ours')\nflows.inspect.inspect = broken"
    done = world.run("inspect", str(tmp_path), script=script)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "RuntimeError: [slip] of ours" in done.stderr and "--debug" in done.stderr
    done = world.run("inspect", str(tmp_path), "--debug", script=script)
    assert done.returncode == 1 and "Traceback" in done.stderr and "RuntimeError" in done.stderr
