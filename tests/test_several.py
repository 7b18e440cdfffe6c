"""tests/several.py with few tasks: PostgreSQL, S3, two machines, one of them killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from several import LACKING, WAYS

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.service
@pytest.mark.parametrize("way", WAYS)
def test_a_batch_survives_the_loss_of_a_machine_and_asks_nothing_twice(way: str) -> None:
    command = [sys.executable, "tests/several.py", "--tasks", "8", "--delay", "1", "--ways", way]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == LACKING:
        pytest.skip(done.stdout.splitlines()[-1])
    assert done.returncode == 0 and f"| {way} | 8 | 8 |" in done.stdout, done.stdout + done.stderr
