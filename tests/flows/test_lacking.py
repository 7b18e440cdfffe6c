"""A machine that lacks something: a run ends with a clear error or the right answer, and the next one, mended, is right."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world import ANSWER, World, make_folder

DISK_MB = 64
READ_ONLY = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x00020000) == 0 and libc.mount(b"none", b"/", None, 0x44000, None) == 0  # private to this process
assert libc.mount(b"none", os.fsencode({place!r}), b"tmpfs", 1, b"size=64k") == 0, os.strerror(ctypes.get_errno())
"""
"""Lay an empty file system that takes no writes over a folder, for this process and its children only."""
ONE_CORE = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "none", place], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def needs_mounts() -> None:
    if os.geteuid():
        pytest.skip("only root may lay a file system over a folder")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")


def ask(world: World, folder: Path, script: str = "") -> subprocess.CompletedProcess[str]:
    profile = world.root / "profile.toml"
    profile.write_text("[store]\nmin_free_mb = 0\n")
    arguments = ("answer", str(folder), "--out", str(world.root / "out"), "--profile", str(profile))
    return world.run(*arguments, script=script)


def check_answer(world: World, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert (world.root / "out" / "answer.csv").read_text("utf-8") == ANSWER


def check_error(done: subprocess.CompletedProcess[str], words: str) -> None:
    """One sentence and the next step, no traceback."""
    assert done.returncode == 2, done.stderr
    assert words in done.stderr and "next: " in done.stderr
    assert "Traceback" not in done.stderr and 'File "' not in done.stderr and "^^^" not in done.stderr


def large_folder(folder: Path) -> Path:
    """The usual task with a file that takes megabytes in the catalogue."""
    make_folder(folder)
    lines = (f"{n},text {n * 7919 % 100_003}\n" for n in range(200_000))
    (folder / "context" / "big.csv").write_text("a,b\n" + "".join(lines))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("temporary", [True, False], ids=["temporary files there too", "only the store there"])
@pytest.mark.parametrize(
    ("free_kb", "words"),
    [
        (0, "cannot write to the store"),
        (8, "cannot write to the store"),
        (32, "no room to open the catalogue"),
        (200, "no room to load context/big.csv"),
        (1500, "no room to load context/big.csv"),
    ],
)
def test_a_full_disk_is_said_and_the_store_stays_usable(
    free_kb: int, words: str, temporary: bool, disk: Path, world: World, tmp_path: Path
) -> None:
    folder = large_folder(tmp_path / "task")
    (disk / "tmp").mkdir()
    world.environment = {"TABLEWRIGHT_STORE": str(disk / "store")}
    if temporary:
        world.environment["TMPDIR"] = str(disk / "tmp")
    with (disk / "filler").open("wb") as file:
        file.write(bytes(shutil.disk_usage(disk).free - (free_kb << 10)))
    check_error(ask(world, folder), words)
    assert not [path for path in disk.rglob("*") if path.is_file() and path.name.startswith((".draft-", "catalogue"))]
    (disk / "filler").unlink()
    check_answer(world, ask(world, folder))


@pytest.mark.slow
def test_a_disk_that_fills_up_while_it_is_answered(disk: Path, world: World, tmp_path: Path) -> None:
    """The model's reply comes when no room is left any more; what was paid for is kept or asked again, never half."""
    folder = make_folder(tmp_path / "task")
    world.environment = {"TABLEWRIGHT_STORE": str(disk / "store")}
    replies = world.endpoint.replies
    assert callable(replies)

    def fill(body: dict[str, Any]) -> Any:
        with (disk / "filler").open("ab") as file:
            file.write(bytes(shutil.disk_usage(disk).free))
        return replies(body)

    world.endpoint.replies = fill
    check_error(ask(world, folder), "cannot write to the store")
    (disk / "filler").unlink()
    world.endpoint.replies = replies
    check_answer(world, ask(world, folder))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["home", "/dev/shm"])
def test_a_folder_that_takes_no_writes(place: str, world: World, tmp_path: Path) -> None:
    needs_mounts()
    if place == "home":
        place = str(tmp_path / "home")
        Path(place).mkdir()
        world.environment = {"HOME": place, "PREFECT_HOME": f"{place}/.prefect", "XDG_CACHE_HOME": f"{place}/.cache"}
    check_answer(world, ask(world, make_folder(tmp_path / "task"), READ_ONLY.format(place=place)))


@pytest.mark.slow
def test_no_place_for_temporary_files(world: World, tmp_path: Path) -> None:
    needs_mounts()
    closed = tmp_path / "closed"
    closed.mkdir()
    world.environment = {"TMPDIR": str(closed)}
    folder = make_folder(tmp_path / "task")
    check_answer(world, ask(world, folder, READ_ONLY.format(place=str(closed))))
    check_answer(world, ask(world, folder))


def test_one_core(world: World, tmp_path: Path) -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system cannot bind a process to a core")
    check_answer(world, ask(world, make_folder(tmp_path / "task"), ONE_CORE))
