"""Files that change while a run is under way are named; those that were only touched are not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from world import ANSWER, World, last_run, make_folder

from tasks import stage


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("0004,8\r\n")


def replace_with_equal_times(path: Path) -> None:
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"0001,7", b"0001,8"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def rewrite_the_same(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (append, "orders.csv was changed while the run read the folder"),
        (replace_with_equal_times, "orders.csv was changed"),
        (Path.unlink, "orders.csv was removed"),
        (rewrite_the_same, ""),
        (Path.touch, ""),
    ],
    ids=["appended", "replaced, times kept", "removed", "written again", "touched"],
)
def test_a_file_that_changes_during_a_run_is_named(
    world: World, tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    folder = make_folder(tmp_path / "shop")
    seen: list[str] = []

    def hear(name: str, event: str, _seconds: float) -> None:
        if (name, event) == ("write_contract", "done"):
            change(folder / "context" / "orders.csv")
            seen.append(name)

    token = stage.listener.set(hear)
    try:
        ended = world.answer(folder, tmp_path / "out")
    finally:
        stage.listener.reset(token)
    assert seen and (tmp_path / "out" / "answer.csv").read_text("utf-8") == ANSWER
    assert len(ended.warnings) == bool(said) and said in "".join(ended.warnings)
    assert last_run(world.store)["warnings"] == list(ended.warnings)


def test_a_file_that_changes_before_it_is_loaded_is_not_taken_for_what_it_was(world: World, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    original = (folder / "context" / "orders.csv").read_bytes()

    def hear(name: str, event: str, _seconds: float) -> None:
        if (name, event) == ("take_inventory", "done"):
            append(folder / "context" / "orders.csv")

    token = stage.listener.set(hear)
    try:
        ended = world.answer(folder, tmp_path / "one")
    finally:
        stage.listener.reset(token)
    assert ended.answer.status == "failed" or ended.answer.table is None or ended.warnings
    assert any("orders.csv was changed" in warning for warning in ended.warnings)
    (folder / "context" / "orders.csv").write_bytes(original)
    again = world.answer(folder, tmp_path / "two")
    assert again.warnings == () and (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER
