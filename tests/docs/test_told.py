"""Every command that the pages tell a reader to run: run by a test, or listed with a reason; its options exist either way."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import orchards
import pytest
from endpoint import Endpoint
from shelled import Shell
from suites import make_suite
from told import PAGES, ROOT, Told, commands, told
from world import SQL, make_folder, solver

from docs.pages.commands import commands as known_commands
from docs.pages.commands import options

CASES: list[dict[str, str]] = tomllib.loads((ROOT / "tests" / "cases" / "told.toml").read_text("utf-8"))["told"]
TUTORIAL = "docs/tutorial.md"
ALL = [one for path in PAGES for one in told(path)]
SAMPLE_SQL = (
    "SELECT category, count(*) FROM orders JOIN products USING (product_id) WHERE status = 'completed' GROUP BY ALL"
)


def plain(text: str) -> str:
    return text.removeprefix(".venv/bin/") if text.startswith(".venv/bin/tablewright") else text


def test_a_block_of_commands_is_taken_apart() -> None:
    block = "$ tablewright a  # a remark\noutput\n$ tablewright b \\\n    --c 1\n"
    assert list(commands(block)) == ["tablewright a", "tablewright b --c 1"]
    block = "# remark\ncat > x <<'END'\n# no remark\n\ny\nEND\nmake it\n\ntablewright d '# kept'\n"
    assert list(commands(block)) == ["cat > x <<'END'\n# no remark\n\ny\nEND", "make it", "tablewright d '# kept'"]


def test_every_command_of_the_pages_is_run_or_listed_with_a_reason() -> None:
    pages = {plain(one.text) for one in ALL if one.page != TUTORIAL}
    table = [case["command"] for case in CASES]
    assert len(table) == len(set(table))
    new = pages - set(table)
    assert not new, f"say in tests/cases/told.toml how a test runs it, or why none does: {new}"
    assert not (gone := set(table) - pages), f"no page tells it any more: {gone}"
    assert all(bool(case.get("run")) != bool(case.get("listed")) for case in CASES)
    for case in CASES:
        for name in re.findall(r"tests/[\w/.]+", case.get("listed", "")):
            assert (ROOT / name.rstrip(".")).exists(), f"{case['command']}: {name}"


@pytest.mark.parametrize("one", ALL, ids=lambda one: f"{one.page}: {one.text[:50]}")
def test_what_a_command_names_exists(one: Told) -> None:
    text = plain(one.text).partition("\n")[0]
    given = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))
    if text.startswith("tablewright"):
        called = [name for name in _alternatives(text) if name in COMMANDS]
        assert called, text
        for name in called:
            known = {opt for option in options(COMMANDS[name]) for opt in (*option.opts, *option.secondary_opts)}
            assert given <= known or len(called) > 1, f"{text}: {given - known}"
    elif text.startswith("make "):
        makefile = (ROOT / "Makefile").read_text("utf-8")
        for target in re.findall(r"(?<= )[a-z][a-z-]*(?= |$)", text):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), text
    elif text.startswith("python tests/"):
        script = (ROOT / text.split()[1]).read_text("utf-8")
        assert all(f'"{option}"' in script for option in given), text
    for name in re.findall(r"(?:deployments|configs)/[\w./-]+|requirements[\w-]*\.txt", text):
        assert (ROOT / name).is_file(), name


COMMANDS = dict(known_commands())


def _alternatives(text: str) -> list[str]:
    """`tablewright model fetch|start` → the commands that it may be."""
    words = text.split()
    second = words[2] if len(words) > 2 else ""
    return [f"tablewright {words[1]}", *(f"tablewright {words[1]} {name}" for name in second.split("|"))]


def reply(body: dict[str, Any]) -> str:
    """A right answer of a model, whatever a command here asks."""
    text = json.dumps(body["messages"], ensure_ascii=False)
    if any(mark in text for mark in ("records_complete", "Copy values out of numbered lines", "doc_name")):
        return orchards.model(body)
    if "Write one DuckDB SELECT statement" in text:
        return SAMPLE_SQL if "completed orders" in text else SQL
    return solver(body)


@pytest.mark.slow
def test_the_commands_of_the_pages_end_well(tmp_path: Path) -> None:
    with Endpoint(reply) as endpoint:
        shell = Shell(tmp_path / "shell", endpoint.url)
        make_folder(shell.work / "shop")
        make_suite(shell.work / "suite", tasks=3)
        orchards.copy(shell.work / "orchards")
        (shell.work / "loose.csv").write_text("x,名称\n1,茶\n", "utf-8")
        shell.environment |= {
            "SAMPLES": str(ROOT / "data" / "samples"),
            "EXAMPLES": str(ROOT / "configs" / "examples"),
            "TMPDIR": os.environ.get("TMPDIR", str(tmp_path)),
        }
        failed = []
        for case in (case for case in CASES if "run" in case):
            text = case["run"]
            if "RUN" in text.split():
                runs = json.loads(shell.run("tablewright runs --json").stdout)
                run = next(one["run"] for one in runs if one["status"] == "approved")
                text = " ".join(run if word == "RUN" else word for word in text.split(" "))
            done = shell.run(text)
            if done.returncode:
                failed.append(f"{text}\n{done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    assert not failed, "\n\n".join(failed)
