"""The world outside the sandbox: a secret, listeners and processes that belong to the test, and what became of them."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import resource
import secrets
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.core.sandbox import tiers
from tasks.core.sandbox.cage import Cage
from tasks.core.settings import SandboxSettings, load

_CAGES: dict[str, Cage | str] = {}
SECRET = "CANARY secret\n"


def limits_with(**values: Any) -> SandboxSettings:
    """The default limits with some replaced."""
    return load().sandbox.model_copy(update={"seconds": 20.0, **values})


def _cage(name: str) -> Cage | str:
    """A cage that holds here, or why there is none. `/shared` = without a user number of its own."""
    if name not in _CAGES:
        tier, _, shared = name.partition("/")
        _CAGES[name] = f"no {name} here"
        for cage in tiers.cages():
            if cage.tier == tier and not (shared and cage.own_user):
                problem = asyncio.run(tiers.trouble(cage))
                if not problem:
                    _CAGES[name] = cage
                    break
                _CAGES[name] = f"no {name} here: {problem}"
    return _CAGES[name]


@pytest.fixture(
    params=[
        "bubblewrap+seccomp",
        "landlock+seccomp",
        pytest.param("bubblewrap+seccomp/shared", marks=pytest.mark.slow),
        pytest.param("landlock+seccomp/shared", marks=pytest.mark.slow),
    ]
)
def cage(request: pytest.FixtureRequest) -> Cage:
    """Each tier of this machine in turn, forced here only: the product takes the strongest."""
    found = _cage(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


class World:
    """Targets for attacks, owned by the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "outside"
        self.folder.mkdir()
        self.secret = self.folder / "secret.txt"
        self.secret.write_text(SECRET)
        self.secret.chmod(0o666)
        self.folder.chmod(0o755)
        self.descriptor = os.open(self.secret, os.O_RDONLY)
        os.set_inheritable(self.descriptor, True)
        self.hits: list[str] = []
        self.signals: list[int] = []
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.ctx = {
            "secret": str(self.secret),
            "folder": str(self.folder),
            "parent": os.getpid(),
            "marker": secrets.token_hex(4),
            "tcp": self._listen(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1],
            "unix": str(folder / "s"),
            "abstract": f"tablewright-{secrets.token_hex(8)}",
        }
        self._listen(socket.AF_UNIX, self.ctx["unix"])
        self._listen(socket.AF_UNIX, "\0" + str(self.ctx["abstract"]))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        self.ctx["udp"] = self.udp.getsockname()[1]
        self.inputs = folder / "ctx.json"
        self.inputs.write_text(json.dumps(self.ctx))

    def _listen(self, family: int, address: Any) -> socket.socket:
        server = socket.socket(family)
        server.bind(address)
        server.listen(5)
        self._open.append(server)
        self._threads.append(threading.Thread(target=self._accept, args=(server, str(address)), daemon=True))
        self._threads[-1].start()
        return server

    def _accept(self, server: socket.socket, name: str) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                self.hits.append(name)
                connection.close()

    def state(self) -> dict[str, Any]:
        """All that an attack could change out here."""
        with contextlib.suppress(BlockingIOError):
            self.hits.append(str(self.udp.recv(10)))
        there = self.secret.stat()
        return {
            "text": self.secret.read_text(),
            "status": (there.st_mode, there.st_uid, there.st_gid, there.st_nlink, there.st_mtime_ns),
            "attributes": os.listxattr(self.secret),
            "folder": (self.folder.stat().st_mode, sorted(path.name for path in self.folder.iterdir())),
            "inputs": self.inputs.read_text(),
            "hits": list(self.hits),
            "signals": list(self.signals),
            "limits": [resource.getrlimit(kind) for kind in range(16)],
            "priority": os.getpriority(os.PRIO_PROCESS, 0),
            "children": _children(),
            "temporary": sorted(path.name for path in Path(tempfile.gettempdir()).iterdir()),
            "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        }

    def close(self) -> None:
        """Close the listeners."""
        for server in self._open:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        for thread in self._threads:
            thread.join(5)
        self.udp.close()
        os.close(self.descriptor)


def _children() -> list[str]:
    """Processes that this one must reap, dead or alive: orphans come here too, as it is made their reaper."""
    return sorted(n for task in Path("/proc/self/task").iterdir() for n in (task / "children").read_text().split())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A world with its own temporary folder, in which this process inherits every orphan."""
    temporary = tmp_path / "t"
    temporary.mkdir()
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder.is_relative_to(tempfile.gettempdir()):
            folder.chmod(folder.stat().st_mode | 0o011)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("CANARY", "CANARY secret")
    libc = ctypes.CDLL(None)
    libc.prctl(36, 1, 0, 0, 0)
    made = World(tmp_path)
    old = {n: signal.signal(n, lambda number, _: made.signals.append(number)) for n in (signal.SIGUSR1, signal.SIGIO)}
    yield made
    for number, handler in old.items():
        signal.signal(number, handler)
    libc.prctl(36, 0, 0, 0, 0)
    made.close()
