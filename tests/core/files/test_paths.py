"""Paths and names as people write them."""

from __future__ import annotations

from tasks.core.files.paths import natural


def test_names_stand_as_people_count_whatever_digits_they_have() -> None:
    names = ["task_10", "task_2", "诊所", "task_²", "10", "9", "task_٣", "task_02", "task"]
    assert sorted(names, key=natural) == ["9", "10", "task", "task_2", "task_02", "task_10", "task_²", "task_٣", "诊所"]
