"""The suites behind `make attacks`: a quick part of each, and that the command sees what gets through."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attacks
import hostile
import pytest
from outside import outside

ROOT = Path(__file__).resolve().parents[1]
QUICK_BOMBS = ("text: two halves of 2 GB", "list: range", "plan: a cube of many columns", "flood: one wide cell")
QUICK_JOINS = 10
EVERY = 12
"""Every so many statements of the long list."""


def with_sql(folder: Path, body: Any, **limits: Any) -> Any:
    async def run() -> Any:
        async with hostile.sql_world(folder, world, **limits) as target:
            return await body(target)

    with outside(folder) as world:
        return asyncio.run(run())


def test_the_locked_database_holds_without_the_gate(tmp_path: Path) -> None:
    async def body(target: hostile.SqlWorld) -> list[str]:
        return [found for _, sql in hostile.statements()[::EVERY] if (found := (await target.second_wall(sql))[0])]

    assert with_sql(tmp_path, body) == []


def test_bombs_cost_only_themselves(tmp_path: Path) -> None:
    async def body(target: hostile.SqlWorld) -> list[str]:
        chosen = [case for case in hostile.bombs() if case["name"] in QUICK_BOMBS]
        return [(await target.bomb(case, tmp_path))[0] for case in chosen]

    assert with_sql(tmp_path, body) == [""] * len(QUICK_BOMBS)


def test_the_audit_of_joins_is_not_misled(tmp_path: Path) -> None:
    async def body(target: hostile.SqlWorld) -> list[str]:
        return [await target.join(case) for case in hostile.audits()[:QUICK_JOINS]]

    assert with_sql(tmp_path, body) == [""] * QUICK_JOINS


def test_what_gets_through_is_seen(tmp_path: Path) -> None:
    """The suites can fail: a database that anyone may write to, a gate that lets through, a wrong count."""

    async def body(target: hostile.SqlWorld) -> list[str]:
        leak = (await target.second_wall("select 'CANARY ' || 'secret'"))[0]
        (target.world.folder / "new").write_text("x")
        target.engine.database.with_name("beside").write_text("x")
        before = await target._state()
        (target.world.folder / "new").unlink()
        target.world.hits.append("connection")
        wrong = await target.join({"sql": "select 1 from numbered join j using (k)", "counts": [1, 1, 1, 0, 0, 0]})
        return [leak, hostile.changed(before, await target._state()), wrong]

    leak, changed, wrong = with_sql(tmp_path, body)
    assert leak.startswith("read: ") and "folder" in changed and "hits" in changed and wrong == "[3, 2, 3, 0, 0, 0]"
    assert hostile.pass_gate("x", "select 1") == "the gate let it through"
    assert "another reason" in hostile.pass_gate("DROP", "delete from sales")


@pytest.mark.parametrize(("outcomes", "code"), [(["refused"], 0), (["refused", "ESCAPED"], 1), (["skipped"], 1)])
def test_the_command_fails_when_anything_escapes_or_nothing_was_tried(
    outcomes: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [attacks.Case("suite", "name", outcome, "why") for outcome in outcomes]
    monkeypatch.setattr(attacks, "MACHINES", {"all": []})
    monkeypatch.setattr(attacks, "run_part", lambda python, user, machine, only: iter(cases))
    monkeypatch.setattr(attacks, "users", lambda folder, only: [("root", 0, "python", only)])
    assert attacks.everything("") == code
    assert capsys.readouterr().out.splitlines()[1] == f"{outcomes[0]:8} suite | all | root | name: why"


def test_a_suite_whose_process_ends_has_been_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacks, "__file__", "/nowhere/attacks.py")
    (case,) = attacks.run_part(sys.executable, os.getuid(), "all", "")
    assert (case.outcome, case.name) == ("ESCAPED", "stays alive")


@pytest.mark.slow
@pytest.mark.parametrize("only", ["sql", "run"])
def test_all_suites_but_programs(only: str) -> None:
    argv = [sys.executable, "tests/attacks.py", "--only", only]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " 0 escaped" in done.stdout
