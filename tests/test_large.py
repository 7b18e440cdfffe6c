"""The command behind `make large`: ours alone, small and in full, and that it sees what is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import large
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "arguments",
    [("--scale", "0.001"), pytest.param(("--scale", "1"), marks=pytest.mark.slow)],
    ids=["small", "in full"],
)
def test_every_value_is_there_in_bounded_memory_and_read_once(arguments: tuple[str, ...]) -> None:
    argv = [sys.executable, "tests/large.py", "--readers", "ours", *arguments]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all there") == 2 * len(large.ROWS)


def test_what_is_lost_is_seen() -> None:
    true = large.truth(3)
    assert true == [3, 6, 111, 21, 13 + 8 + 12]
    got = {"found": [3, 6, 111, 20, 33], "mb": large.MOST_MB + 1, "seconds": 1.0, "work": 1.0}
    assert [fault[:4] for fault in large.faults(got, true)] == ["[3, ", "held"]
    assert large.shown(got, true).endswith("changed: codes")
    assert large.faults({"error": "gone"}, true) == ["gone"]
