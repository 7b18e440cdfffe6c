"""A lock belongs to one holder and is free when the holder is gone."""

from __future__ import annotations

import asyncio
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


def test_turns_follow_one_another_in_one_process_and_leave_no_file(tmp_path: Path) -> None:
    path, inside, seen = tmp_path / "locks" / "a", [0], []

    async def one(number: int) -> None:
        async with lock.turn(path, 30):
            inside[0] += 1
            assert inside[0] == 1
            await asyncio.sleep(0.05)
            inside[0] -= 1
            seen.append(number)

    async def main() -> None:
        await asyncio.gather(*map(one, range(4)))

    asyncio.run(main())
    assert sorted(seen) == [0, 1, 2, 3] and not [*path.parent.iterdir()]


def test_a_turn_is_waited_for_only_so_long(tmp_path: Path) -> None:
    async def main() -> float:
        async with lock.turn(tmp_path / "a", 30):
            began = time.monotonic()
            async with lock.turn(tmp_path / "a", 0.3):
                return time.monotonic() - began

    assert 0.3 <= asyncio.run(main()) < 10


def test_a_turn_is_had_at_once_where_a_killed_holder_left_its_file_or_none_can_be_written(tmp_path: Path) -> None:
    async def main(path: Path) -> float:
        began = time.monotonic()
        async with lock.turn(path, 30):
            return time.monotonic() - began

    (tmp_path / "a").write_text("4194304")
    (tmp_path / "file").write_text("")
    assert asyncio.run(main(tmp_path / "a")) < 5 and asyncio.run(main(tmp_path / "file" / "a")) < 5
