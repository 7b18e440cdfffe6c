"""The world outside of what is attacked: a secret, listeners and processes of the attacker's target, and their state."""

from __future__ import annotations

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

SECRET = "CANARY secret\n"
_SUBREAPER = 36


class Outside:
    """Targets for attacks, in a folder of their own."""

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
        self.inherited = descriptors()
        """Open before any attack; what others left open may close at any time."""

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
            "children": children(),
            "temporary": sorted(path.name for path in Path(tempfile.gettempdir()).iterdir()),
            "descriptors": sorted(descriptors() - self.inherited),
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


def descriptors() -> set[str]:
    """Numbers of this process's open files; that of looking for them is closed when they are asked after again."""
    return {path.name for path in list(Path("/proc/self/fd").iterdir()) if os.path.lexists(path)}


def children() -> list[str]:
    """Processes that this one must reap, dead or alive: orphans come here too, as it is made their reaper."""
    found: list[str] = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that ended meanwhile
            found += (task / "children").read_text().split()
    return sorted(found)


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


@contextlib.contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    """Targets in `folder`, its own temporary folder and a secret in the environment; this process inherits orphans."""
    temporary = folder / "t"
    temporary.mkdir()
    for path in (folder, *folder.parents):
        if path.stat().st_uid == os.getuid() and path.is_relative_to(tempfile.gettempdir()):
            path.chmod(path.stat().st_mode | 0o011)
    before, tempfile.tempdir = tempfile.tempdir, str(temporary)
    os.environ["CANARY"] = SECRET.strip()
    libc = ctypes.CDLL(None)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    made = Outside(folder)
    old = {n: signal.signal(n, lambda number, _: made.signals.append(number)) for n in (signal.SIGUSR1, signal.SIGIO)}
    try:
        yield made
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        libc.prctl(_SUBREAPER, 0, 0, 0, 0)
        made.close()
        del os.environ["CANARY"]
        tempfile.tempdir = before
