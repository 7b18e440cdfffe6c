"""Machines with less than this one, by refusing system calls to this process, and interpreters for other users."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tasks.core.sandbox import filter, tiers

ROOT = Path(__file__).resolve().parents[1]

NAMESPACES = ["mount", "umount2", "pivot_root", "unshare", "setns"]
LANDLOCK = [444, 445, 446]
MACHINES: dict[str, list[str | int]] = {
    "all": [],
    "no namespaces": [*NAMESPACES],
    "no Landlock": [*LANDLOCK],
    "neither": [*NAMESPACES, *LANDLOCK],
}
"""What is refused in each."""


def deny(calls: Sequence[str | int]) -> None:
    """Refuse these system calls to this process and all that it starts, for good."""
    with filter.sonames():
        import pyseccomp as seccomp
    denied = seccomp.SyscallFilter(seccomp.ALLOW)
    denied.set_attr(
        seccomp.Attr.ACT_BADARCH, seccomp.ALLOW
    )  # calls in other forms are for the product's filter to meet
    for call in calls:
        denied.add_rule(seccomp.ERRNO(errno.EPERM), call)
    denied.load()


def python_for(user: int, folder: Path) -> str:
    """An interpreter of this version, with these packages, that a user can run; empty when there is none.

    Where this one lies in a home of its own, an environment around the system's is made in `folder`.
    """
    if _runs(sys.executable, user):
        return sys.executable
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = Path(sysconfig.get_path("purelib"))
    for system in (Path("/usr/bin") / version, Path("/usr/local/bin") / version):
        place = folder / f"python-{user}"
        (place / "bin").mkdir(parents=True)
        (place / "lib" / version).mkdir(parents=True)
        (place / "pyvenv.cfg").write_text(f"home = {system.parent}\ninclude-system-site-packages = false\n")
        (place / "bin" / "python").symlink_to(system)
        (place / "lib" / version / "site-packages").symlink_to(packages)
        folder.chmod(0o755)
        if _runs(str(place / "bin" / "python"), user):
            return str(place / "bin" / "python")
        shutil.rmtree(place)
    return ""


def as_user(user: int) -> dict[str, Any]:
    """Options of a process of that user, with an environment of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    environment = {
        **kept,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/nonexistent",
    }
    other = {"user": user, "group": user, "extra_groups": []} if user != os.getuid() else {}
    return {"cwd": ROOT, "env": environment, "stdin": subprocess.DEVNULL, **other}


def _runs(python: str, user: int) -> bool:
    """Whether that user can import the product and what it needs."""
    try:
        code = "import duckdb, pydantic, tasks.core.settings, machines"
        done = subprocess.run([python, "-c", code], capture_output=True, **as_user(user))
    except OSError:
        return False
    return done.returncode == 0


def needs_isolation() -> None:
    """Skip the test where generated programs are refused."""
    if asyncio.run(tiers.choose())[1] is None:
        pytest.skip("nothing isolates programs here")
