"""JSON lines on standard input → JSON lines on standard output: the child's side of `process.Worker`.

It imports nothing of ours, because every child of ours does: a model or a setting costs it a third of a second.
Started as a nursery it answers nothing itself: it has imported what requests need and forks a child for each that is asked for,
so that no child sees what another one did.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SET_PDEATHSIG = 1
NURSERY = "nursery"
"""First argument of a process that forks children instead of answering."""


def answer_requests(handle: Callable[[dict[str, Any]], dict[str, Any]], warm: Callable[[], object] = int) -> None:
    """The child's side of `Worker`: limit memory, then answer each line of standard input until it ends.

    Whatever `handle` prints goes to standard error, so that it cannot spoil a reply. `warm` imports what every request
    needs, and starts no thread.
    """
    if sys.argv[1] == NURSERY:
        _die_with_parent()
        warm()
        sys.argv[1:] = _Nursery(int(sys.argv[2])).forked()
    memory_mb, parent = int(sys.argv[1]), int(sys.argv[2])
    _die_with_parent()
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()
    _limit(resource.RLIMIT_AS, memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        replies.write(json.dumps(handle(json.loads(line)), allow_nan=False) + "\n")
        replies.flush()


class _Nursery:
    """Forks children on request. Each has a line to whoever asked for it: there its number is written when it begins and its
    exit code when it ends, and when that line is hung up it is killed with its group and reaped, not before."""

    def __init__(self, control: int) -> None:
        self._own = os.getpid()
        self._control = socket.socket(fileno=control)
        self._lines: dict[int, int] = {}
        """Process number by descriptor of its line."""
        self._running: set[int] = set()
        self._woken, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()

    def forked(self) -> list[str]:
        """Return in each child, its memory in MB and its parent's number; the nursery ends when nobody can ask any more."""
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for descriptor in (self._control.fileno(), self._woken):
            self._poll.register(descriptor, select.POLLIN)
        gc.collect()
        gc.freeze()
        asked = True
        while asked or self._lines:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._woken:
                    self._tell()
                elif descriptor in self._lines:
                    self._bury(descriptor)
                else:
                    asked, memory_mb = self._fork()
                    if memory_mb:
                        return [memory_mb, str(self._own)]
        os._exit(0)

    def _fork(self) -> tuple[bool, str]:
        """Whether there was a request, and in the child its memory."""
        message, descriptors, _, _ = socket.recv_fds(self._control, 64, 3)
        if len(descriptors) != 3:
            self._poll.unregister(self._control)
            return False, ""
        stream, errors, line = descriptors
        try:
            if len([*Path("/proc/self/task").iterdir()]) > 1:
                raise OSError("a process with threads cannot be forked")
            pid = os.fork()
        except OSError as error:
            self._say(line, f"! {error}")
            pid = -1
        if pid == 0:
            self._leave([stream, errors, line])
            return True, message.decode()
        if pid > 0:
            with contextlib.suppress(OSError):  # it does so itself; whoever comes first
                os.setpgid(pid, pid)
            self._lines[line] = pid
            self._running.add(line)
            self._poll.register(line, 0)
            self._say(line, str(pid))
        for descriptor in descriptors if pid < 0 else (stream, errors):
            os.close(descriptor)
        return True, ""

    def _leave(self, own: list[int]) -> None:
        """In the child: its own group, its own streams, and nothing of the nursery."""
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        for stream, place in ((own[0], 0), (own[0], 1), (own[1], 2)):
            os.dup2(stream, place)
        for descriptor in (*own, *self._lines, self._woken, self._wake):
            os.close(descriptor)

    def _tell(self) -> None:
        """Write the exit codes of those that have ended."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        for line in [*self._running]:
            ended = os.waitid(os.P_PID, self._lines[line], os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended:
                self._running.discard(line)
                self._say(line, str(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status))

    def _bury(self, line: int) -> None:
        self._poll.unregister(line)
        pid = self._lines.pop(line)
        self._running.discard(line)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(line)

    def _say(self, line: int, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody listens
            os.write(line, text.encode() + b"\n")


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(kind, (most, most))
    except ValueError:
        if sys.platform == "linux":  # macOS has no limit of address space
            raise


def _die_with_parent() -> None:
    """By the parent's death signal, which native code cannot hold up; where there is none a thread looks for the parent."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
