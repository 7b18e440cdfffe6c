"""Scratch folders that were left in the worst state."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tasks.core.sandbox.wipe import scratch, usage, wipe


def deep(folder: Path, levels: int) -> None:
    here = os.getcwd()  # noqa: PTH109
    os.chdir(folder)
    try:
        for _ in range(levels):
            os.mkdir("d" * 200)  # noqa: PTH102
            os.chdir("d" * 200)
        Path("file").write_text("x")
    finally:
        os.chdir(here)


def test_wipe_removes_folders_deeper_than_any_path(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    deep(folder, 1100)
    wipe(folder)
    assert not folder.exists()


def test_wipe_removes_closed_folders_and_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder = tmp_path / "scratch"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "link").symlink_to(outside)
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "a" / "b" / "file").write_text("x")
    (folder / "a" / "b").chmod(0)
    (folder / "a").chmod(0)
    mode = outside.stat().st_mode
    wipe(folder)
    assert not folder.exists()
    assert (outside / "kept").read_text() == "x"
    assert outside.stat().st_mode == mode


def test_usage_counts_files_and_stops_at_the_limit(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(50):
        (tmp_path / "in" / str(number)).write_bytes(bytes(4096))
    size, count = usage(tmp_path, 1000)
    assert count == 51
    assert size >= 50 * 4096
    assert usage(tmp_path, 10)[1] > 10


def test_usage_of_a_folder_too_deep_to_look_at_is_over_the_limit(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    deep(folder, 100)
    assert usage(folder, 1000)[1] > 1000
    wipe(folder)


def test_usage_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "root").symlink_to("/")
    assert usage(tmp_path, 1000)[1] == 2


def test_scratch_sweeps_what_was_left_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, mode in (("left", 0o700), ("young", 0o700), ("shared", 0o755)):
        folder = tmp_path / f"tablewright-program-{name}"
        folder.mkdir()
        folder.chmod(mode)
        (folder / "file").write_text("x")
        if name != "young":
            os.utime(folder, (0, 0))
    (tmp_path / "tablewright-program-file").write_text("x")
    (tmp_path / "tablewright-program-link").symlink_to(tmp_path / "tablewright-program-shared")
    (tmp_path / "other").mkdir()
    with scratch() as used:
        os.utime(used, (0, 0))
        with scratch() as second:
            assert used.is_dir(), "a folder in use is kept, however old"
            assert used != second
        left = {path.name.removeprefix("tablewright-program-") for path in tmp_path.iterdir()} - {used.name}
    assert not used.exists()
    assert {"young", "shared", "file", "link", "other"} <= left
    assert "left" not in left
