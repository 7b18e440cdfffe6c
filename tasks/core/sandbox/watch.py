"""One confined child, from its start to its end → `Ending`: its record, what it printed, why it stopped.

The clock starts when the child is confined and ready. Whatever happens, the child's group is killed and reaped, and no
descriptor or file stays.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tasks.core.sandbox import wipe
from tasks.core.sandbox.cage import SCRATCH, Cage, Launch, close_all, memory_file, prepare
from tasks.core.sections import SandboxSettings

Stop = Literal["", "start", "time", "output", "result", "disk", "files", "threads"]

_START_SECONDS = 30
_PERIOD_SECONDS = 0.1
_AFTER_SECONDS = 1
"""How long a child that is over may take to leave, and a killed one to be reaped."""
_MOST_FILES = 4000
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    record: bytes
    """The record that bears the run's key, without it; empty when none came."""
    output: bytes
    """Standard output and error together, no longer than the limit."""
    seconds: float
    stopped: Stop
    """Why it was killed; empty when it ended by itself."""
    code: int | None
    """Exit code, negative for a signal."""


async def drive(cage: Cage, program: str, inputs: dict[str, Path], limits: SandboxSettings) -> Ending:
    """Run a program in a cage to its end. Raises SandboxError for unusable inputs, OSError when nothing starts."""
    with prepare(cage, inputs, limits) as launch:
        child = _Child(launch, limits)
        try:
            await child.start(program)
            stopped = await child.follow()
        finally:
            await child.end()
        return child.ending(stopped)


class _Child:
    def __init__(self, launch: Launch, limits: SandboxSettings) -> None:
        self.launch = launch
        self.limits = limits
        self.output = bytearray()
        self.reply = bytearray()
        self.seconds = 0.0
        self.key = secrets.token_hex(16).encode()
        self.process: subprocess.Popen[bytes] | None = None
        self.inner = 0
        """Number of the confined process where bubblewrap stands between; 0 where it is the started one."""
        self._inner_handle: int | None = None
        self._open: list[asyncio.BaseTransport] = []
        self._usual = wipe.usage(launch.scratch, _MOST_FILES)[0] if launch.scratch else 0

    async def start(self, program: str) -> None:
        """Start the process and open its two streams. No awaiting stands between process and handle on it."""
        config = json.dumps({**self.launch.config, "program": program}).encode()
        given = self.launch.given
        given.append(memory_file(config))
        key, to_key = os.pipe()
        given.append(key)
        reply, to_reply = os.pipe()
        given.append(to_reply)
        try:
            os.write(to_key, self.key)
            self.process = subprocess.Popen(
                [*self.launch.argv, *map(str, given[-3:])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self.launch.scratch or "/",
                env=self.launch.environment,
                pass_fds=given,
                start_new_session=True,
                bufsize=0,
            )
        except BaseException:
            os.close(reply)
            raise
        finally:
            os.close(to_key)
            close_all(given)
        assert self.process.stdout
        self._replies = await self._stream(reply)
        self._prints = await self._stream(os.dup(self.process.stdout.fileno()))

    async def _stream(self, descriptor: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=_CHUNK)
        file = os.fdopen(descriptor, "rb", 0)
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
        except BaseException:
            file.close()
            raise
        self._open.append(transport)
        return reader

    async def follow(self) -> Stop:
        """Wait until the child answers, ends or breaks a limit."""
        prints = asyncio.create_task(self._read_output())
        try:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    ready = await self._replies.readline()
            except (TimeoutError, ValueError):
                return "start"
            if not ready:
                return "start"
            began = time.monotonic()
            self._find_inner()
            try:
                reason = await self._first_reason(prints, began + self.limits.seconds)
            finally:
                self.seconds = time.monotonic() - began
            if not reason and not self.reply:
                await _until(self._has_ended)  # for its exit code
            return reason
        finally:
            await self._kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_AFTER_SECONDS):
                    await prints

    async def _first_reason(self, prints: asyncio.Task[Stop | None], deadline: float) -> Stop:
        others = {asyncio.create_task(self._read_reply()), asyncio.create_task(self._watch())}
        waiting: set[asyncio.Task[Stop | None]] = {prints, *others}
        try:
            while True:
                done, waiting = await asyncio.wait(
                    waiting, timeout=max(0, deadline - time.monotonic()), return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    return "time"
                reasons = [reason for task in done if (reason := task.result()) is not None]
                if reasons:
                    return max(reasons)
        finally:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    async def _read_reply(self) -> Stop | None:
        """Ends with the first line, or with the last process that could write one."""
        while chunk := await self._replies.read(_CHUNK):
            self.reply += chunk
            if len(self.reply) > (self.limits.file_mb << 20) + _CHUNK:
                return "result"
            if chunk.endswith(b"\n"):
                break
        return ""

    async def _read_output(self) -> Stop | None:
        most = self.limits.output_kb << 10
        while chunk := await self._prints.read(_CHUNK):
            self.output += chunk
            if len(self.output) > most:
                del self.output[most:]
                return "output"
        return None

    async def _watch(self) -> Stop | None:
        """What no limit of the kernel bounds: threads of a shared user, the number of files, a folder on the disk."""
        while True:
            await asyncio.sleep(_PERIOD_SECONDS)
            size, files = self._usage()
            if size > self.limits.file_mb << 20:
                return "disk"
            if files > _MOST_FILES:
                return "files"
            if self._threads() > self.limits.processes:
                return "threads"

    def _usage(self) -> tuple[int, int]:
        if self.launch.scratch:
            size, files = wipe.usage(self.launch.scratch, _MOST_FILES)
            return size - self._usual, files
        with contextlib.suppress(OSError):
            inside = os.statvfs(f"/proc/{self.inner}/root{SCRATCH}")
            return 0, inside.f_files - inside.f_ffree
        return 0, 0

    def _threads(self) -> int:
        assert self.process
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.inner or self.process.pid}/task").stat().st_nlink - 2
        return 0

    def _find_inner(self) -> None:
        if self.launch.info is None:
            return
        with contextlib.suppress(OSError, ValueError, KeyError, AttributeError):
            told = os.read(self.launch.info, _CHUNK)
            self.inner = int(json.loads(told)["child-pid"])
            self._inner_handle = os.pidfd_open(self.inner)

    async def _kill(self) -> None:
        """Kill the confined process first, so that bubblewrap reaps it and leaves no orphan; then the group."""
        process = self.process
        if process is None or process.returncode is not None:
            return
        if self._inner_handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inner_handle, signal.SIGKILL)
            await _until(self._has_ended)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await _until(lambda: process.poll() is not None)

    def _has_ended(self) -> bool:
        """Whether it ended; it stays unreaped, so that its number cannot become another process's meanwhile."""
        assert self.process
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    async def end(self) -> None:
        """Kill and reap the child and close all that is open; safe to call at any time."""
        try:
            await self._kill()
        finally:
            for transport in self._open:
                transport.close()
            for descriptor in (self._inner_handle, self.launch.info):
                if descriptor is not None:
                    os.close(descriptor)
            if self.process and self.process.stdout:
                self.process.stdout.close()

    def ending(self, stopped: Stop) -> Ending:
        """What is known of the child after its end."""
        assert self.process
        key, _, record = bytes(self.reply).partition(b" ")
        valid = secrets.compare_digest(key, self.key) and record.endswith(b"\n") and not stopped
        code = self.process.returncode
        return Ending(record if valid else b"", bytes(self.output), self.seconds, stopped, code)


async def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _AFTER_SECONDS
    while not condition() and time.monotonic() < deadline:
        await asyncio.sleep(0.003)
