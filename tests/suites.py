"""A suite for the benchmark: tasks that the scripted model of `world` answers, and their gold."""

from __future__ import annotations

from pathlib import Path

from world import ANSWER, QUESTION, make_folder

GOLD = {"task_1": ANSWER, "task_2": ANSWER.replace("1", "9"), "任务_3": ANSWER}
"""The model's answer misses one of two columns of the second."""


def make_suite(folder: Path, tasks: int = 0) -> Path:
    """The tasks of `GOLD`, or so many `task_N` with the second one's gold wrong."""
    gold = {f"task_{n}": ANSWER for n in range(1, tasks + 1)} | {"task_2": GOLD["task_2"]} if tasks else GOLD
    for name, text in gold.items():
        make_folder(folder / name, f"{QUESTION} ({name})")
        (folder / "gold" / name).mkdir(parents=True)
        (folder / "gold" / name / "gold.csv").write_text(text, "utf-8")
    return folder
