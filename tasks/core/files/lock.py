"""Path of a lock file → a lock of this machine, freed by the kernel when its holder ends, however that happens."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
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


@contextlib.contextmanager
def gate(path: Path, alone: bool) -> Iterator[None]:
    """Inside together with others, or alone; waits for its turn. Where no file can be written nobody waits."""
    descriptor = None
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextlib.asynccontextmanager
async def turn(path: Path, seconds: float) -> AsyncIterator[None]:
    """Do the same thing one after another: whoever comes second waits outside for at most so many seconds.

    Between tasks of one process it works as between processes. The file is removed by its
    last holder; one that a killed process left behind holds nobody up. Where no file can be written nobody waits.
    """
    deadline, descriptor = time.monotonic() + seconds, None
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        while (descriptor := take_named(path)) is None and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        if descriptor is not None:
            path.unlink(missing_ok=True)
            free(descriptor)


def take_named(path: Path) -> int | None:
    """For locks whose holder removes the file before it frees it. As `take`; None also when the file that was locked is no longer the one of that name: its holder has removed it."""
    descriptor = take(path)
    if descriptor is None:
        return None
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    free(descriptor)
    return None
