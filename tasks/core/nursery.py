"""A worker's module → children of it that begin at once: forked from a process that has imported the module and done nothing else.

A start costs a child a tenth to half a second of imports; a fork costs it some milliseconds. What a child did is gone with it.
One nursery serves one module in one thread, and ends with it. Linux alone has what this needs; elsewhere, and wherever
anything of it fails, workers are started one by one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import weakref
from typing import IO

from tasks.core import sections, settings
from tasks.core.answering import NURSERY

_LINE_BYTES = 256
_NOT_THEIRS = ("LITELLM_", "MODEL_", "OTEL_", "PREFECT_", "PYTEST_", "TABLEWRIGHT_")
"""Beginnings of the names of variables that tell whoever asks models, traces, runs flows, tests or reads settings; no child does, so
that they may differ from run to run in one nursery."""


class Forked:
    """A child of a nursery, with the names that a `Popen` has for it. Its number stays its own until it is closed."""

    def __init__(self, line: socket.socket) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.lost = False
        """Whether its nursery is gone, and the child with it."""
        self._line = line

    async def begun(self) -> None:
        """Wait for its number. Raises OSError when the nursery could not fork, or ended."""
        said = (await asyncio.get_running_loop().sock_recv(self._line, _LINE_BYTES)).decode()
        first, _, rest = said.partition("\n")
        if not first.isdecimal():
            raise OSError(first.removeprefix("! ") or "its nursery has ended")
        self.pid = int(first)
        self._hear(rest)

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            with contextlib.suppress(BlockingIOError):
                said = self._line.recv(_LINE_BYTES).decode()
                self.lost = not said
                self._hear(said or "-9")
        return self.returncode

    def close(self) -> None:
        """Have it killed and reaped; its number may be another's from here on."""
        self._line.close()

    def _hear(self, said: str) -> None:
        if said:
            self.returncode = int(said)


class _Nursery:
    """The process that children of one module are forked from."""

    def __init__(self, module: str, environment: dict[str, str]) -> None:
        self.environment = environment
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, NURSERY, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=sections.PROJECT,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.end = weakref.finalize(self, _end, self._process, self._control, os.getpid())

    def fork(self, memory_mb: int, stream: socket.socket, errors: IO[bytes]) -> Forked:
        """Ask for a child with these streams; it is there when it has `begun`. Raises OSError."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:
                descriptors = [stream.fileno(), errors.fileno(), theirs.fileno()]
                socket.send_fds(self._control, [str(memory_mb).encode()], descriptors)
            except BaseException:
                ours.close()
                raise
        return Forked(ours)

    def retire(self) -> None:
        """Ask for no more children; it ends with the last."""
        self._control.close()

    @property
    def ended(self) -> bool:
        """Whether it is gone."""
        return self._process.poll() is not None


class _Here(threading.local):
    """The nurseries of this thread: the system ends a process with the thread that started it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.nurseries: dict[str, _Nursery] = {}
        self.retired: list[_Nursery] = []


_here = _Here()


async def fork(module: str, memory_mb: int, stream: socket.socket, errors: IO[bytes]) -> Forked:
    """A child of this module with these streams, from this thread's nursery of it, which is made where there is none.

    Raises OSError; then a nursery that did not fork is gone, and the child may be started in another way.
    """
    if sys.platform != "linux":
        raise OSError("children are forked on Linux alone")
    child = _nursery(module).fork(memory_mb, stream, errors)
    try:
        await child.begun()
    except BaseException as error:
        child.close()
        if isinstance(error, OSError):
            _retire(module)
        raise
    return child


def end() -> None:
    """End this thread's nurseries, and with them their children; the next child gets a new one."""
    for nursery in (*_here.nurseries.values(), *_here.retired):
        nursery.end()
    _here.nurseries.clear()
    _here.retired.clear()


def _nursery(module: str) -> _Nursery:
    """That of this thread, process and environment."""
    if _here.owner != os.getpid():  # a copy of the process that they belong to
        _here.__init__()  # type: ignore[misc]
    environment = settings.workers_environment(PYTHONPATH=str(sections.PROJECT))
    environment = {name: value for name, value in environment.items() if not name.startswith(_NOT_THEIRS)}
    known = _here.nurseries.get(module)
    if known and (known.ended or known.environment != environment):
        _retire(module)
        known = None
    if not known:
        known = _here.nurseries[module] = _Nursery(module, environment)
    return known


def _retire(module: str) -> None:
    if known := _here.nurseries.pop(module, None):
        known.retire()
        _here.retired.append(known)
    _here.retired = [nursery for nursery in _here.retired if not nursery.ended]


def _end(process: subprocess.Popen[bytes], control: socket.socket, owner: int) -> None:
    control.close()
    if owner == os.getpid():
        process.kill()
        process.wait()
