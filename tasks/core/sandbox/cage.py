"""Isolation + inputs + limits → the command, descriptors and configuration that start one confined child.

A cage decides what a child can see: interpreter, libraries, its own input files, an empty folder. How it ends is `watch`'s.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import shutil
import stat
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tasks.core.errors import SandboxError
from tasks.core.sandbox import filter, landlock, wipe
from tasks.core.sections import SandboxSettings

INSIDE = Path(__file__).with_name("inside")
SCRATCH, BOOT = "/.program", "/.boot"
"""Places within a namespace, named so that they hide no folder of the interpreter or its packages."""
_SYSTEM = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/usr/share/zoneinfo")
_KERNEL = ("/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom")
_CORES = 2
"""Processor cores of one program: DuckDB and BLAS start a thread for each, and each thread takes address space."""
_OPEN_FILES = 256


@dataclass(frozen=True)
class Cage:
    """One way of isolating a child."""

    tier: Literal["bubblewrap+seccomp", "landlock+seccomp"]
    own_user: bool
    """Runs as a user number of its own; only root can give one."""
    bubblewrap: str = ""


@dataclass
class Launch:
    """A child about to start."""

    argv: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    given: list[int] = field(default_factory=list)
    """Descriptors that the child inherits; closed here once it has started."""
    scratch: Path | None = None
    """Its writable folder on this file system; None when it lies in memory, inside."""
    info: int | None = None
    """Descriptor on which bubblewrap tells the number of the child behind it; closed by the reader."""
    script: str = ""
    """Path of boot.py as the child sees it."""


@contextlib.contextmanager
def prepare(cage: Cage, inputs: dict[str, Path], limits: SandboxSettings) -> Iterator[Launch]:
    """Set up a launch and take down what it needed: descriptors and the scratch folder.

    Raises SandboxError for an input that is no plain file or whose name is no file name.
    """
    files = {name: _checked(name, path) for name, path in inputs.items()}
    launch = Launch()
    launch.config = {
        "packages": [str(path) for path in packages()],
        "cores": _some_cores(),
        "limits": _limits(cage, limits),
        "filter": filter.program().hex(),
        "user": secrets.choice(wipe.SHORT_LIVED_USERS) if cage.own_user else None,
        "ruleset": None,
        "inputs": sorted(inputs),
        "record_bytes": limits.file_mb << 20,
    }
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: close_all(launch.given))
        if cage.tier == "bubblewrap+seccomp":
            _in_namespaces(cage, launch, files, limits)
        else:
            launch.scratch = stack.enter_context(wipe.scratch())
            _in_landlock(launch, files)
        launch.argv += [str(Path(sys.executable).resolve()), "-s", "-P", "-S", "-B", launch.script]
        yield launch


def packages() -> tuple[Path, ...]:
    """Folders of installed packages that programs can import from."""
    names = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    names += [name for name in sys.path if name.endswith("-packages")]
    return tuple(dict.fromkeys(Path(name).resolve() for name in names if Path(name).is_dir()))


def _visible() -> list[Path]:
    return [Path(sys.base_prefix).resolve(), *packages()]


def _checked(name: str, path: Path) -> Path:
    plain = name == Path(name).name and name.isprintable() and 0 < len(name.encode()) <= 200
    if not plain or name in (".", ".."):
        raise SandboxError(f"{name!r} is no file name for an input of a program", "give a plain name without folders")
    try:
        found = path.resolve(strict=True)
    except OSError as error:
        raise SandboxError(f"the input {name!r} of a program cannot be read: {error}") from error
    if not found.is_file():
        raise SandboxError(f"the input {name!r} of a program is no plain file: {path}")
    return found


def _some_cores() -> list[int]:
    mine = sorted(os.sched_getaffinity(0))
    return random.sample(mine, min(_CORES, len(mine)))


def _limits(cage: Cage, limits: SandboxSettings) -> dict[str, tuple[int, int]]:
    """Soft and hard limit by name. RLIMIT_NPROC counts all threads of the user, so a shared one needs their number."""
    found = {
        "RLIMIT_CORE": 0,
        "RLIMIT_AS": limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": _OPEN_FILES,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NPROC": limits.processes if cage.own_user else limits.processes + _threads_of_this_user(),
    }
    pairs = {name: (value, value) for name, value in found.items()}
    pairs["RLIMIT_CPU"] = (limits.cpu_seconds, limits.cpu_seconds + 1)
    return pairs


def _threads_of_this_user() -> int:
    count, user = 0, os.getuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += Path(entry.path, "task").stat().st_nlink - 2
    return count


def _environment(home: str) -> dict[str, str]:
    """All that the child's environment holds. The fixed hash seed makes sets come in the same order at replay."""
    fixed = "LANG=C.UTF-8 TZ=UTC PYTHONHASHSEED=0 PYTHONUTF8=1 OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2"
    return {"HOME": home, "TMPDIR": home, **dict(pair.split("=") for pair in fixed.split())}


def _in_namespaces(cage: Cage, launch: Launch, files: dict[str, Path], limits: SandboxSettings) -> None:
    # as-pid-1: else bubblewrap leaves its own first process as an orphan, which many containers never reap
    options = ["--die-with-parent", "--as-pid-1", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--cap-drop", "ALL"]
    if cage.own_user:
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user"]
    visible = [path for path in (*map(Path, _SYSTEM), *_visible()) if path.exists()]
    for folder in sorted({parent for path in visible for parent in path.parents} - {Path("/")}):
        options += ["--perms", "0755", "--dir", str(folder)]
    for path in visible:
        options += ["--ro-bind", str(path), str(path)]
    # read-only, since bubblewrap leaves the kernel's settings in /proc/sys writable to whom they belong: root
    options += ["--ro-bind", str(INSIDE), BOOT, "--proc", "/proc", "--remount-ro", "/proc"]
    options += ["--dev", "/dev", "--remount-ro", "/dev"]
    options += ["--perms", "0777", "--size", str(limits.file_mb << 20), "--tmpfs", SCRATCH]
    for name, path in files.items():
        if cage.own_user and not path.stat().st_mode & stat.S_IROTH:
            launch.given.append(os.open(path, os.O_RDONLY))
            options += ["--perms", "0444", "--ro-bind-data", str(launch.given[-1]), f"{SCRATCH}/{name}"]
        else:
            options += ["--ro-bind", str(path), f"{SCRATCH}/{name}"]
    options += ["--remount-ro", "/", "--chdir", SCRATCH]
    launch.given.append(memory_file("\0".join(options).encode()))
    launch.info, told = os.pipe()
    launch.given.append(told)
    launch.argv = [cage.bubblewrap, "--info-fd", str(told), "--args", str(launch.given[-2]), "--"]
    launch.environment = _environment(SCRATCH)
    launch.script = f"{BOOT}/boot.py"


def _in_landlock(launch: Launch, files: dict[str, Path]) -> None:
    scratch, user = launch.scratch, launch.config["user"]
    assert scratch
    for name, path in files.items():
        place = scratch / name
        if user is not None and not _open_to_all(path):
            shutil.copyfile(path, place)
            place.chmod(0o444)
        else:
            place.symlink_to(path)
    if user is not None:
        os.chown(scratch, user, user)
    readable = [*map(Path, _SYSTEM), *map(Path, _KERNEL), *_visible(), INSIDE, *files.values()]
    launch.given.append(landlock.ruleset([path for path in readable if path.exists()], scratch))
    launch.config.update(ruleset=launch.given[-1])
    launch.environment = _environment(str(scratch))
    launch.script = str(INSIDE / "boot.py")


def _open_to_all(path: Path) -> bool:
    reachable = all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)
    return reachable and bool(path.stat().st_mode & stat.S_IROTH)


def close_all(descriptors: list[int]) -> None:
    """Close and forget them."""
    while descriptors:
        os.close(descriptors.pop())


def memory_file(data: bytes) -> int:
    """A descriptor to read `data` from that fills no pipe and lies in no folder."""
    fd = os.memfd_create("tablewright")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
