"""Children of ours: killable workers that answer JSON lines, and plain commands with a deadline.

Native readers and SQL run in such workers, so that a bad file or query costs itself and nothing else.
Generated programs never run here: they go through `core/sandbox`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tasks.core import settings
from tasks.core.errors import TablewrightError

Child = subprocess.Popen[str]
_LINE_BYTES = 256 << 20
"""Longest reply line; larger things go through files."""
_STDERR_CHARS = 500


class ChildError(TablewrightError):
    """A worker was stopped or ended by itself; `stopped` is `time`, `memory` or `died`."""

    def __init__(self, message: str, hint: str = "", stopped: str = "died") -> None:
        super().__init__(message, hint)
        self.stopped = stopped

    def __reduce__(self) -> tuple[type[ChildError], tuple[str, str, str]]:  # type: ignore[override]
        return type(self), (self.message, self.hint, self.stopped)


class Worker:
    """One child running `python -m MODULE`, asked one request at a time.

    It starts with the first request, and anew with the next one after it was stopped. The module's
    `main()` calls `answer_requests`. A worker dies with this process, however that ends.
    """

    def __init__(self, module: str, memory_mb: int) -> None:
        self.module = module
        self.memory_mb = memory_mb
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and wait for its reply, both JSON objects.

        Raises ChildError when the time is over or the child ends; the child is gone then.
        """
        async with self._turn:
            process = await self._running()
            assert process.stdin and process.stdout
            try:
                async with asyncio.timeout(seconds):
                    process.stdin.write(json.dumps(request).encode() + b"\n")
                    await process.stdin.drain()
                    line = await process.stdout.readline()
            except TimeoutError:
                await self.close()
                raise ChildError(f"stopped after {seconds:g} s", stopped="time") from None
            except (BrokenPipeError, ConnectionResetError):
                line = b""
            except BaseException:
                await self.close()
                raise
            if not line.endswith(b"\n"):
                raise await self._post_mortem(process)
            reply: dict[str, Any] = json.loads(line)
            return reply

    async def close(self) -> None:
        """Kill the child and its group; the next request starts a new one."""
        process, self._process = self._process, None
        if process is None:
            return
        kill_group(process.pid)
        transport = getattr(process, "_transport", None)
        with contextlib.suppress(ProcessLookupError):
            await process.wait()
        if transport:
            transport.close()

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                self.module,
                str(self.memory_mb),
                str(os.getpid()),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=settings.PROJECT,
                env=settings.environment(PYTHONPATH=str(settings.PROJECT), PYTHONUNBUFFERED="1"),
                start_new_session=True,
                limit=_LINE_BYTES,
            )
        return self._process

    async def _post_mortem(self, process: asyncio.subprocess.Process) -> ChildError:
        assert process.stderr
        kill_group(process.pid)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await process.wait()
        tail = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                tail = await process.stderr.read()
        await self.close()
        text = tail.decode("utf-8", "replace").strip()
        if "MemoryError" in text or "bad_alloc" in text or "Out of Memory" in text:
            return ChildError(f"needed more than {self.memory_mb} MB", stopped="memory")
        return ChildError(f"ended by itself ({_how(process.returncode)}): {text[-_STDERR_CHARS:]}", stopped="died")


def answer_requests(handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """The child's side of `Worker`: limit memory, then answer each line of standard input until it ends.

    Whatever `handle` prints goes to standard error, so that it cannot spoil a reply.
    """
    memory_mb, parent = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        replies.write(json.dumps(handle(json.loads(line)), allow_nan=False) + "\n")
        replies.flush()


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
            process.communicate()
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
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(seconds)
    kill_group(child.pid)
    child.wait()


def _die_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _how(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
