"""What goes on after a fault equals an undisturbed run; `make interruptions` does all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interruptions.py")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["reply 2 just kept", "disk full from write 8", "endpoint gone after 1", "SIGTERM"])
def test_going_on_after_a_fault_equals_an_undisturbed_run(fault: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--only", fault], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0 and "2 of 2 equal" in done.stdout, done.stdout + done.stderr
