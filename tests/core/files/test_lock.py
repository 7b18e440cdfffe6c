"""A lock belongs to one holder and is free when the holder is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tasks.core.files import lock


def test_one_holder_at_a_time_and_its_process_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    assert lock.holder(path) is None
    first = lock.take(path)
    assert first is not None and lock.take(path) is None
    assert lock.holder(path) == os.getpid()
    lock.free(first)
    assert lock.holder(path) is None


def test_a_killed_holder_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    code = f"import time, pathlib; from tasks.core.files import lock; lock.take(pathlib.Path({str(path)!r})); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout and child.stdout.readline() == "held\n"
        assert lock.holder(path) == child.pid
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while lock.holder(path) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    told: list[int] = []
    with lock.hold(path, told.append):
        assert lock.holder(path) == os.getpid()
    assert told == []
