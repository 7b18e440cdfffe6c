"""Every attack of tests/cases/sandbox, in every tier that this machine offers: refused, with nothing left behind."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tasks.core.errors import SandboxError
from tasks.core.sandbox.cage import Cage
from tasks.core.sandbox.runner import run_in
from tasks.core.settings import load

CASES = sorted((Path(__file__).parents[2] / "cases" / "sandbox").glob("*.toml"))
ATTACKS = [attack for case in CASES for attack in tomllib.loads(case.read_text("utf-8"))["attack"]]
PRELUDE = """
import ctypes, json, os
ctx = json.load(open("ctx.json"))
libc = ctypes.CDLL(None, use_errno=True)
escaped, refused = [], []
def attempt(name, action):
    try:
        got = action()
    except BaseException as error:
        refused.append(f"{name}: {type(error).__name__}")
    else:
        (escaped if got else refused).append(name)
"""
REPORT = "\nresult = {'escaped': escaped, 'refused': refused}\n"


def name_of(attack: dict[str, Any]) -> str:
    return attack["name"].replace(" ", "-")


@pytest.mark.parametrize("attack", ATTACKS, ids=name_of)
def test_attack_is_refused_and_leaves_nothing(attack: dict[str, Any], cage: Cage, world: Any) -> None:
    before = world.state()
    began = time.monotonic()
    limits = load().sandbox.model_copy(update={"seconds": 20.0, **attack.get("limits", {})})
    report = "" if "del escaped" in attack["program"] else REPORT
    program = PRELUDE + attack["program"] + report
    try:
        result = asyncio.run(run_in(cage, program, {"ctx.json": world.inputs}, limits))
    except SandboxError as error:
        assert attack["ends"] in ("stopped", "either"), str(error)
        assert re.search(attack["error"], error.message), error.message
        assert len(str(error)) < 1500
    else:
        assert attack["ends"] in ("refused", "either"), result.value
        assert result.value["escaped"] == [], result.value
        assert result.value["refused"], "nothing was tried"
    assert time.monotonic() - began < limits.seconds + 10
    assert world.state() == before


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.get("control")], ids=name_of)
def test_the_same_attack_gets_through_outside(attack: dict[str, Any], world: Any, tmp_path: Path) -> None:
    program = PRELUDE + attack["program"] + REPORT + "\nprint(json.dumps(result))\n"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, close_fds=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["escaped"], done.stdout


def test_the_suite_is_not_empty() -> None:
    assert len(ATTACKS) >= 50
    assert len({attack["name"] for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack["ends"] in ("refused", "stopped", "either") for attack in ATTACKS)
    assert all("error" in attack for attack in ATTACKS if attack["ends"] != "refused")
