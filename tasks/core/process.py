"""Children of ours: killable workers that answer JSON lines, and plain commands with a deadline.

Native readers and SQL run in such workers, so that a bad file or query costs itself and nothing else.
Generated programs never run here: they go through `core/sandbox`.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tasks.core import nursery, sections, settings
from tasks.core.errors import TablewrightError
from tasks.core.nursery import Forked

Child = subprocess.Popen[str]
_LINE_BYTES = 256 << 20
"""Longest reply line; larger things go through files."""
_STDERR_CHARS, _STDERR_BYTES = 500, 8192
_OUT_OF_MEMORY = (
    *("MemoryError", "bad_alloc", "Out of Memory", "memory allocation"),
    *("annot allocate memory", "failed to map segment"),
)
_AFTER_SECONDS = 5
"""How long a killed child may take to be gone; one with much memory takes a while."""


class ChildError(TablewrightError):
    """A worker was stopped or ended by itself; `stopped` is `time`, `memory`, `disk` or `died`."""

    def __init__(self, message: str, hint: str = "", stopped: str = "died") -> None:
        super().__init__(message, hint)
        self.stopped = stopped

    def __reduce__(self) -> tuple[type[ChildError], tuple[str, str, str]]:  # type: ignore[override]
        return type(self), (self.message, self.hint, self.stopped)


class Worker:
    """One child running `python -m MODULE`, asked one request at a time.

    It starts with the first request, and anew with the next one after it was stopped. The module's
    `main()` calls `answering.answer_requests`. A worker dies with this process, however that ends; it may be used from one event
    loop after another, not from two at once.
    """

    def __init__(self, module: str, memory_mb: int, forked: bool = False) -> None:
        """`forked` children come from a nursery, which has imported their module: for those that are often started anew."""
        self.module = module
        self.memory_mb = memory_mb
        self.forked = forked
        self._process: subprocess.Popen[bytes] | Forked | None = None
        self._line: socket.socket | None = None
        self._errors: IO[bytes] | None = None
        self._turn: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and wait for its reply, both JSON objects; `seconds` hold for both and a start.

        Raises ChildError when the time is over, the child ends or its reply is none; the child is gone then.
        """
        async with self._one_at_a_time():
            try:
                async with asyncio.timeout(seconds):
                    line = await self._exchange(json.dumps(request).encode() + b"\n")
            except TimeoutError:
                await self.close()
                raise ChildError(f"stopped after {seconds:g} s", stopped="time") from None
            except BaseException:
                await self.close()
                raise
            if not line.endswith(b"\n"):
                raise await self._post_mortem(len(line))
            try:
                reply: dict[str, Any] = json.loads(line)
            except ValueError:
                await self.close()
                raise ChildError(f"replied what is no JSON: {line[:80]!r}") from None
            return reply

    async def close(self) -> None:
        """Kill the child and its group; the next request starts a new one."""
        process, self._process = self._process, None
        line, self._line = self._line, None
        errors, self._errors = self._errors, None
        try:
            if process:
                _kill(process)
                await _until(lambda: process.poll() is not None)
        finally:
            for file in (line, errors, process if isinstance(process, Forked) else None):
                if file:
                    file.close()

    def _one_at_a_time(self) -> asyncio.Lock:
        """A lock belongs to the loop in which it is waited for."""
        loop = asyncio.get_running_loop()
        if self._turn is None or self._loop is not loop:
            self._loop, self._turn = loop, asyncio.Lock()
        return self._turn

    async def _exchange(self, request: bytes) -> bytes:
        """The reply's line; without its end when the child ended or writes too much.

        A child that ended before it had read the request, while idle say, is replaced; a new one is not.
        """
        used = self._process is not None and self._process.poll() is None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if used:
                return await self._converse(request)
        await self.close()
        try:
            await self._start()
        except OSError as error:
            raise ChildError(f"could not be started: {error}", stopped=_why(str(error))) from error
        try:
            return await self._converse(request)
        except (BrokenPipeError, ConnectionResetError):
            return b""

    async def _converse(self, request: bytes) -> bytes:
        """Write and read; a peer's end that closes with something unread breaks the line."""
        assert self._line and self._errors
        self._errors.truncate(0)
        loop = asyncio.get_running_loop()
        reply = bytearray()
        await loop.sock_sendall(self._line, request)
        while chunk := await loop.sock_recv(self._line, 1 << 18):
            reply += chunk
            if chunk.endswith(b"\n") or len(reply) > _LINE_BYTES:
                break
        return bytes(reply[: _LINE_BYTES + 1])

    async def _start(self) -> None:
        """Start the child; both its ends of the conversation are one socket, which no event loop owns."""
        ours, theirs = socket.socketpair()
        self._line = ours
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
        fcntl.fcntl(self._errors, fcntl.F_SETFL, os.O_APPEND)  # so that it may be emptied under the writer
        ours.setblocking(False)
        with theirs:
            if self.forked:
                with contextlib.suppress(OSError):
                    self._process = await nursery.fork(self.module, self.memory_mb, theirs, self._errors)
                    return
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module, str(self.memory_mb), str(os.getpid())],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._errors,
                cwd=sections.PROJECT,
                env=settings.workers_environment(PYTHONPATH=str(sections.PROJECT)),
                start_new_session=True,
            )

    async def _post_mortem(self, received: int) -> ChildError:
        process, errors = self._process, self._errors
        assert process and errors
        if received > _LINE_BYTES:
            await self.close()
            return ChildError(f"replied with more than {_LINE_BYTES >> 20} MB")
        await _until(lambda: has_ended(process))
        _kill(process)
        await _until(lambda: process.poll() is not None)
        size = errors.seek(0, os.SEEK_END)
        errors.seek(max(0, size - _STDERR_BYTES))
        text = errors.read().decode("utf-8", "replace").strip()
        await self.close()
        stopped = _why(text)
        if stopped == "memory":
            return ChildError(f"needed more than {self.memory_mb} MB", stopped=stopped)
        if stopped == "disk":
            return ChildError(f"found no room: {text.splitlines()[-1][-_STDERR_CHARS:]}", stopped=stopped)
        return ChildError(f"ended by itself ({_how(process.returncode)}): {text[-_STDERR_CHARS:]}", stopped=stopped)


def kill_group(pid: int) -> None:
    """SIGKILL the process group that a child of ours leads; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def run(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end; its output is text. Raises ChildError when the time is over."""
    with start(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            kill_group(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):  # something outside the group may hold the pipes
                process.communicate(timeout=_AFTER_SECONDS)
            raise ChildError(f"{argv[0]} stopped after {seconds:g} s", stopped="time") from None
        except BaseException:
            kill_group(process.pid)
            raise
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def start(argv: list[str], cwd: Path | None = None, **options: Any) -> Child:
    """Start a command of ours in its own group; `options` are those of `subprocess.Popen`."""
    options = {"stdin": subprocess.DEVNULL, "text": True, "env": settings.environment(), **options}
    return subprocess.Popen(argv, cwd=cwd, start_new_session=True, **options)


def stop(child: Child, seconds: float = 10) -> None:
    """Ask a child from `start` to end, and kill its group when it has not after that time, or left some of it."""
    child.terminate()
    deadline = time.monotonic() + seconds
    while not has_ended(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    kill_group(child.pid)
    child.wait()


def _kill(process: subprocess.Popen[bytes] | Forked) -> None:
    if not (isinstance(process, Forked) and process.lost):  # then its number may be another's
        kill_group(process.pid)


def has_ended(child: subprocess.Popen[Any] | Forked) -> bool:
    """Whether a child of ours ended. It stays unreaped where the system allows: its number, and that of its group, is
    not given to another process meanwhile."""
    if child.returncode is not None:
        return True
    if isinstance(child, Forked):
        return child.poll() is not None
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except AttributeError:
        return child.poll() is not None


async def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _AFTER_SECONDS
    while not condition() and time.monotonic() < deadline:
        await asyncio.sleep(0.005)


def _why(text: str) -> str:
    """What a child that ended had too little of, by its last words: Python's, C++'s, the allocator's or the linker's."""
    if any(word in text for word in _OUT_OF_MEMORY):
        return "memory"
    return "disk" if any(word in text for word in ("No space left", "Disk quota exceeded")) else "died"


def _how(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
