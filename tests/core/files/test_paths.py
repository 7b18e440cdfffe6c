"""Paths and names as people write them."""

from __future__ import annotations

from tasks.core.files.paths import file_name, natural


def test_names_stand_as_people_count_whatever_digits_they_have() -> None:
    names = ["task_10", "task_2", "诊所", "task_²", "10", "9", "task_٣", "task_02", "task"]
    assert sorted(names, key=natural) == ["9", "10", "task", "task_2", "task_02", "task_10", "task_²", "task_٣", "诊所"]


def test_what_a_file_name_cannot_hold_is_changed_and_a_long_one_is_cut() -> None:
    assert file_name("a/b:c", ".sqlite") == "a_b_c.sqlite" and file_name(" . ", ".csv") == "table.csv"
    long = [file_name("表" * 200 + end, ".sqlite") for end in "一二"]
    assert len(set(long)) == 2 and all(len(name.encode()) < 220 for name in long)
