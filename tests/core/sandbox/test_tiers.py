"""Isolation is found by trying; what does not hold is not used."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from machines import LANDLOCK, NAMESPACES, as_user, python_for

from tasks.core.sandbox import filter, landlock, tiers
from tasks.core.sandbox.cage import Cage

ROOT = Path(__file__).parents[3]
SCRIPT = """
import asyncio, json, sys
sys.path.insert(0, "tests")
from machines import deny
from tasks.core.errors import SandboxError
from tasks.core.sandbox import tiers
from tasks.core.sandbox.runner import run_program
from tasks.core.settings import load
deny(json.loads(sys.argv[1]))
async def main():
    isolation = await tiers.probe()
    try:
        value = (await run_program("result = 7", {}, load().sandbox)).value
    except SandboxError as error:
        value = str(error)
    print(json.dumps({"tier": isolation.tier, "detail": isolation.detail, "hint": isolation.hint, "value": value}))
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("denied", "tier"),
    [
        (NAMESPACES, "landlock+seccomp"),
        (LANDLOCK, "bubblewrap+seccomp"),
        ([*NAMESPACES, *LANDLOCK], "none"),
        (["memfd_create"], "none"),
        (["seccomp", "prctl"], "none"),
    ],
    ids=["container without namespaces", "kernel without Landlock", "neither", "no memory files", "no filters"],
)
def test_machine_with_less_gets_a_lower_tier_or_none(denied: list[str | int], tier: str) -> None:
    here = {cage.tier for cage in tiers.cages() if not asyncio.run(tiers.trouble(cage))}
    if tier != "none" and tier not in here:
        pytest.skip(f"no {tier} here at all")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(denied)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    if "prctl" in denied and done.returncode:
        return  # the test's own filter cannot be loaded then either
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tier"] == tier
    assert found["value"] == 7 if tier != "none" else found["hint"] in found["value"]
    assert found["hint"] or tier == "bubblewrap+seccomp"


@pytest.mark.slow
def test_works_for_an_unprivileged_user() -> None:
    if os.geteuid():
        pytest.skip("every other test shows it, as this is one")
    with tempfile.TemporaryDirectory() as folder:
        python = python_for(65534, Path(folder))
        if not python:
            pytest.skip("no interpreter that this user can run")
        argv = [python, "-c", SCRIPT, "[]"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, **as_user(65534))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"] == 7


def test_probe_is_made_once_and_tells_what_it_found() -> None:
    first = asyncio.run(tiers.probe())
    assert asyncio.run(tiers.probe()) is first
    assert first.tier in ("bubblewrap+seccomp", "landlock+seccomp", "none")
    assert first.detail
    assert tiers.Isolation.model_validate_json(first.model_dump_json()) == first


def test_cage_without_a_filter_is_found_out(cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_all = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    monkeypatch.setattr(filter, "program", lambda: allow_all)
    problem = asyncio.run(tiers.trouble(cage))
    # where executing works, the program is replaced by another one and never answers
    assert "got through: " in problem or "ended without a result" in problem


def test_cage_without_file_rules_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [cage for cage in tiers.cages() if cage.tier == "landlock+seccomp" and not asyncio.run(tiers.trouble(cage))]
    if not found:
        pytest.skip("no Landlock here")
    rules = landlock.ruleset
    monkeypatch.setattr(landlock, "ruleset", lambda readable, writable: rules([*readable, Path("/")], writable))
    problem = asyncio.run(tiers.trouble(found[0]))
    assert "reading outside" in problem
    assert "listing outside" in problem


def test_cage_whose_program_is_missing_is_found_out() -> None:
    problem = asyncio.run(tiers.trouble(Cage("bubblewrap+seccomp", False, "/nowhere/bwrap")))
    assert "/nowhere/bwrap" in problem
    problem = asyncio.run(tiers.trouble(Cage("bubblewrap+seccomp", False, "/bin/true")))
    assert "did not start" in problem


def test_other_systems_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "_found", None)
    monkeypatch.setattr(sys, "platform", "darwin")
    isolation = asyncio.run(tiers.probe())
    assert isolation.tier == "none"
    assert "Linux" in isolation.hint
