"""this machine, or the container on it → cores and memory that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


def cores(root: Path = _CGROUP) -> int:
    """Cores that this process may use, at least 1: its affinity, and in a container no more than its share of time."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        allowed = os.cpu_count() or 1
    share = _share(root)
    return max(1, min(allowed, round(share))) if share else allowed


def memory_mb(root: Path = _CGROUP, meminfo: Path = _MEMINFO) -> int | None:
    """Memory that is there for us, in MB: what the machine has free, and no more than the container's limit. None where
    nothing says so."""
    found = [limit for name in ("memory.max", "memory/memory.limit_in_bytes") if (limit := _number(root / name))]
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) << 10)
    return min(found) >> 20 if found else None


def _share(root: Path) -> float | None:
    """Cores' worth of time that a control group may use; None without such a limit."""
    words = " ".join(_lines(root / "cpu.max")).split()
    if len(words) == 2 and words[0].isdigit():
        return int(words[0]) / int(words[1])
    quota, period = _number(root / "cpu/cpu.cfs_quota_us"), _number(root / "cpu/cpu.cfs_period_us")
    return quota / period if quota and period else None


def _number(path: Path) -> int | None:
    words = _lines(path)
    return int(words[0]) if words and words[0].isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
