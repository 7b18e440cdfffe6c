"""Cores and memory, of the machine and of a container's limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flows.running import machine

MEMINFO = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   16384000 kB\n"


def group(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8),
        ({"cpu_dot_max": "max 100000\n"}, 8),
        ({"cpu_dot_max": "350000 100000\n"}, 4),
        ({"cpu_dot_max": "20000 100000\n"}, 1),
        ({"cpu_dot_max": "6400000 100000\n"}, 8),
        ({"cpu__cpu_dot_cfs_quota_us": "200000\n", "cpu__cpu_dot_cfs_period_us": "100000\n"}, 2),
        ({"cpu__cpu_dot_cfs_quota_us": "-1\n", "cpu__cpu_dot_cfs_period_us": "100000\n"}, 8),
        ({"cpu_dot_max": "\n"}, 8),
    ],
)
def test_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert machine.cores(group(tmp_path, **files)) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16_000),
        ({"memory_dot_max": "max\n"}, 16_000),
        ({"memory_dot_max": f"{4 << 30}\n"}, 4096),
        ({"memory__memory_dot_limit_in_bytes": f"{2 << 30}\n"}, 2048),
        ({"memory__memory_dot_limit_in_bytes": "9223372036854771712\n"}, 16_000),
    ],
)
def test_memory(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    (tmp_path / "meminfo").write_text(MEMINFO)
    assert machine.memory_mb(group(tmp_path / "group", **files), tmp_path / "meminfo") == expected


def test_a_machine_that_says_nothing_has_no_known_memory(tmp_path: Path) -> None:
    assert machine.memory_mb(tmp_path, tmp_path / "meminfo") is None
    assert machine.cores() >= 1
