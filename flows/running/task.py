"""task.json of a task folder → the question it asks."""

from __future__ import annotations

import json
from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.files.text import read_text
from tasks.core.models.value import Value


class TaskFile(Value):
    """The question of a task folder. Other fields of the file are not read."""

    task_id: str
    question: str
    difficulty: str = ""


def read_task(folder: str) -> TaskFile | None:
    """The task of a folder; None when it has no task.json. A missing id becomes the folder's name.

    Raises InputError when the file is no JSON object or asks nothing.
    """
    path = find_task(Path(folder).expanduser())
    if path is None:
        return None
    try:
        data = json.loads(read_text(path)[0])
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", "give it read permission") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no valid JSON: {error}", "mend the file, or give the question yourself") from error
    if not isinstance(data, dict):
        raise InputError(f"{path} holds no JSON object", 'write {"task_id": "…", "question": "…"} into it')
    question = data.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"{path} has no text under the key `question`", "add it, or give the question yourself")
    if any("\ud800" <= sign <= "\udfff" for sign in question):
        raise InputError(f"the question of {path} holds characters that are no text", "write it again")
    return TaskFile(
        task_id=_plain(data.get("task_id")) or path.resolve().parent.name,
        question=question,
        difficulty=_plain(data.get("difficulty")),
    )


def find_task(folder: Path) -> Path | None:
    """The task.json of a folder, whose name may be in capitals; None when there is none.

    Raises InputError when the folder cannot be looked into.
    """
    try:
        if (path := folder / "task.json").is_file():
            return path
        return next((path for path in sorted(folder.iterdir()) if path.name.lower() == "task.json"), None)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(
            f"the folder {folder} cannot be looked into: {error.strerror}", "give it permission"
        ) from error


def _plain(value: object) -> str:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).encode("utf-8", "replace").decode() if plain else ""
