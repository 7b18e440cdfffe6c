"""task.json: what it must hold, and what it may lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.running.task import TaskFile, read_task
from tasks.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"task_id": "task_7", "difficulty": "hard", "question": "How many?"}',
            TaskFile(task_id="task_7", question="How many?", difficulty="hard"),
        ),
        ('{"question": "多少？"}', TaskFile(task_id="task_9", question="多少？")),
        ('{"task_id": 3, "question": "q", "more": [1]}', TaskFile(task_id="3", question="q")),
        (r'{"question": "q", "task_id": "\udc00 7"}', TaskFile(task_id="? 7", question="q")),
        ('\ufeff{"question": "q"}', TaskFile(task_id="task_9", question="q")),
    ],
)
def test_a_task_is_read(tmp_path: Path, text: str, expected: TaskFile) -> None:
    folder = tmp_path / "task_9"
    folder.mkdir()
    (folder / "task.json").write_text(text, "utf-8")
    assert read_task(str(folder)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no valid JSON"),
        ("", "no valid JSON"),
        ("[1]", "no JSON object"),
        ("{}", "no text under the key `question`"),
        ('{"question": "  "}', "no text under the key `question`"),
        (r'{"question": "how \ud800 many?"}', "no text"),
        ('{"question": 5}', "no text under the key `question`"),
    ],
)
def test_a_broken_task_says_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "task.json").write_text(text)
    with pytest.raises(InputError, match=message) as raised:
        read_task(str(tmp_path))
    assert raised.value.hint


def test_a_folder_without_a_task(tmp_path: Path) -> None:
    assert read_task(str(tmp_path)) is None
    assert read_task(str(tmp_path / "missing")) is None


def test_the_name_of_the_file_may_be_upper_case(tmp_path: Path) -> None:
    (tmp_path / "TASK.JSON").write_text('{"question": "q"}')
    task = read_task(str(tmp_path))
    assert task and task.question == "q"


def test_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_bytes('{"question": "显示公司的持股数量和持股比例"}'.encode("gbk"))
    task = read_task(str(tmp_path))
    assert task and task.question == "显示公司的持股数量和持股比例"
