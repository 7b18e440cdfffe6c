"""Every attack of tests/cases/sandbox, in every tier that this machine offers: refused, with nothing left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hostile import PRELUDE, REPORT, attack_by_program, programs

from tasks.core.sandbox.cage import Cage

ATTACKS = programs()
SLOW = ("bombs", "modules")
MARKED = [pytest.param(a, marks=pytest.mark.slow) if a["file"] in SLOW else a for a in ATTACKS]


def name_of(attack: dict[str, Any]) -> str:
    return attack["name"].replace(" ", "-")


@pytest.mark.parametrize("attack", MARKED, ids=name_of)
def test_attack_is_refused_and_leaves_nothing(attack: dict[str, Any], cage: Cage, world: Any) -> None:
    assert attack_by_program(attack, cage, world) == ""


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.get("control")], ids=name_of)
def test_the_same_attack_gets_through_outside(attack: dict[str, Any], world: Any, tmp_path: Path) -> None:
    program = PRELUDE + attack["program"] + REPORT + "\nprint(json.dumps(result))\n"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, close_fds=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["escaped"], done.stdout


def test_the_suite_is_not_empty() -> None:
    assert len(ATTACKS) >= 110
    assert len({attack["name"] for attack in ATTACKS}) == len(ATTACKS)
    assert all(attack["ends"] in ("refused", "stopped", "either") for attack in ATTACKS)
    assert all("error" in attack for attack in ATTACKS if attack["ends"] != "refused")
