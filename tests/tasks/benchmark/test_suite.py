"""A suite with a manifest is what it was, or is said to differ; disputed tasks have a reason."""

from __future__ import annotations

import asyncio
import shutil
from datetime import date
from pathlib import Path

import pytest
from world import ANSWER, make_folder

from tasks.benchmark.suite import differences, open_suite, read_suite, write
from tasks.core.errors import InputError

DAY = date(2026, 1, 31)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tasks with gold, one without, and what is no task."""
    made = tmp_path / "套件"
    for name in ("task_10", "task_2", "no_gold"):
        make_folder(made / name)
    for name in ("task_10", "task_2", "no_task"):
        (made / "gold" / name).mkdir(parents=True)
        (made / "gold" / name / "gold.csv").write_text(ANSWER, "utf-8")
    return made


def test_a_manifest_names_the_tasks_that_have_gold(folder: Path) -> None:
    suite = write(folder, None, "", "1", DAY)
    opened = asyncio.run(open_suite(str(folder)))
    assert (opened.name, opened.version, opened.as_of) == ("套件", "1", DAY)
    assert [task.task for task in opened.tasks] == ["task_2", "task_10"] and opened.tasks == suite.tasks
    assert Path(opened.folder) == folder.resolve()


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("task_2/context/orders.csv", "task_2 has another task"),
        ("gold/task_10/gold.csv", "task_10 has another gold"),
        ("gold/task_10/truth.json", "task_10 has another gold"),
    ],
)
def test_a_changed_file_is_refused_before_anything_runs(folder: Path, file: str, says: str) -> None:
    write(folder, None, "", "1", DAY)
    (folder / file).write_text("{}")
    with pytest.raises(InputError, match=says):
        asyncio.run(open_suite(str(folder)))
    with pytest.raises(InputError, match="version 1 is taken, and differs"):
        write(folder, None, "", "1", DAY)
    write(folder, None, "", "2", DAY)
    assert asyncio.run(open_suite(str(folder))).version == "2"


def test_new_and_missing_tasks_are_named(folder: Path) -> None:
    said = write(folder, None, "", "1", DAY).tasks
    shutil.rmtree(folder / "task_2")
    make_folder(folder / "no_task")
    assert differences(said, read_suite(folder)[1]) == ["no_task is new", "task_2 is gone"]


def test_a_manifest_may_lie_elsewhere_and_move_with_its_folder(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "suites" / "shop.json"
    file.parent.mkdir()
    write(folder, file, "shop", "1", DAY)
    before = asyncio.run(open_suite(str(file)))
    (tmp_path / "moved").mkdir()
    for path in (folder, file.parent):
        path.rename(tmp_path / "moved" / path.name)
    after = asyncio.run(open_suite(str(tmp_path / "moved" / "suites" / "shop.json")))
    assert after.tasks == before.tasks and after.folder == str((tmp_path / "moved" / folder.name).resolve())
    assert not list((tmp_path / "moved").rglob("suite.json"))


def test_a_folder_without_a_manifest_has_no_version(folder: Path) -> None:
    opened = asyncio.run(open_suite(str(folder)))
    assert (opened.version, opened.as_of, len(opened.tasks)) == ("", None, 2)
    with pytest.raises(InputError, match="has no folder gold/"):
        asyncio.run(open_suite(str(folder / "task_2")))


def test_disputed_tasks_have_a_reason(folder: Path) -> None:
    disputed = folder / "gold" / "disputed.toml"
    disputed.write_text('task_2 = "金标数了表头"\n', "utf-8")
    assert asyncio.run(open_suite(str(folder))).disputed == {"task_2": "金标数了表头"}
    for text, says in (('task_2 = ""', "has no reason"), ('task_9 = "why"', "is no task"), ("task_2", "cannot read")):
        disputed.write_text(text)
        with pytest.raises(InputError, match=says):
            asyncio.run(open_suite(str(folder)))


def test_a_broken_manifest_is_an_input_error(folder: Path) -> None:
    (folder / "suite.json").write_text('{"name": 1}')
    with pytest.raises(InputError, match="is no manifest of a suite"):
        asyncio.run(open_suite(str(folder)))
