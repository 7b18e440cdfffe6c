"""What goes on after a fault equals an undisturbed run; `make interruptions` does all of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import outages
import pytest

SCRIPT = Path(__file__).with_name("interruptions.py")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["reply 2 just kept", "disk full from write 8", "endpoint gone after 1", "SIGTERM"])
def test_going_on_after_a_fault_equals_an_undisturbed_run(fault: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--only", fault], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0 and "2 of 2 equal" in done.stdout, done.stdout + done.stderr


@pytest.mark.service
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("kill -9 of the worker and the run's process", "retry"),
        ("kill -9 of the server, back when the run has ended", "again"),
        ("kill -9 of server, worker and the run's process", "resume"),
    ],
)
def test_a_run_whose_server_or_worker_was_killed_is_gone_on_with(site: outages.Trial, name: str, way: str) -> None:
    outage = next(outage for outage in outages.OUTAGES if outage.name == name)
    assert site.case(outage, way)[1] == "equal"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[outages.Trial]:
    """A server and a worker of their own, because they are killed."""
    with outages.trial(tmp_path_factory.mktemp("site")) as made:
        yield made
