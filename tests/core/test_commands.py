"""Commands of ours that end badly, or late: stopped in time, with their groups."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time

import pytest

from tasks.core import process
from tasks.core.process import ChildError


def test_command_gives_its_output() -> None:
    done = process.run([sys.executable, "-c", "import sys; print('out 中'); print('err', file=sys.stderr)"], 20)
    assert (done.returncode, done.stdout, done.stderr) == (0, "out 中\n", "err\n")


@pytest.mark.parametrize("detach", ["", "os.setsid();"])
def test_command_over_its_time_is_killed(detach: str) -> None:
    # a grandchild that left the group keeps the pipes open: that must not hold up the caller
    script = f"import os, time\nif not os.fork():\n    {detach} time.sleep(8); os._exit(0)\ntime.sleep(60)"
    began = time.monotonic()
    with pytest.raises(ChildError) as caught:
        process.run([sys.executable, "-c", script], 0.5)
    assert caught.value.stopped == "time"
    assert time.monotonic() - began < 15


def test_stop_asks_first_and_kills_what_stays() -> None:
    polite = process.start([sys.executable, "-c", "import time; time.sleep(60)"])
    process.stop(polite, 10)
    assert polite.returncode == -signal.SIGTERM
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); time.sleep(60)"
    )
    stubborn = process.start([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert stubborn.stdout
    stubborn.stdout.readline()
    process.stop(stubborn, 0.3)
    stubborn.stdout.close()
    assert stubborn.returncode == -signal.SIGKILL
    process.stop(stubborn, 0.3)


def test_child_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(ChildError("stopped after 3 s", "ask for less", "time")))
    assert (error.message, error.hint, error.stopped) == ("stopped after 3 s", "ask for less", "time")
