"""Path of a lock file → a lock of this machine, freed by the kernel when its holder ends, however that happens."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_POLL_SECONDS = 0.1


def take(path: Path) -> int | None:
    """Take the lock and write our process id into it: a descriptor that `free` takes; None when another holds it.

    Raises OSError when the file cannot be written.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def free(descriptor: int) -> None:
    """Free a lock that `take` gave."""
    os.close(descriptor)


def holder(path: Path) -> int | None:
    """Process id of the holder; None when nobody holds it, 0 when the holder has not signed yet."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        text = os.pread(descriptor, 32, 0)
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def hold(path: Path, waiting: Callable[[int], None]) -> Iterator[None]:
    """Hold the lock inside; `waiting` is told the holder's process id, once, when another has it."""
    told = False
    while (descriptor := take(path)) is None:
        if not told:
            waiting(holder(path) or 0)
            told = True
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        free(descriptor)
