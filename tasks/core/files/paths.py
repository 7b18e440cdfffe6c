"""A path as the user wrote it → a Path; names that no system takes are no crash. Names in their natural order."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from tasks.core.errors import InputError

_NAME_BYTES = 200


def expand(text: str | Path) -> Path:
    """The path with `~` put in place. Raises InputError when it names a user that is not known here."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InputError(f"the path {str(text)!r} names no user of this machine", "write it without ~") from error


def file_name(stem: str, ending: str) -> str:
    """A file's name that every system takes; what it cannot hold becomes `_`, and the end of a long one a digest."""
    safe = re.sub(r'[\\/:*?"<>|\x00-\x1f]', "_", stem).strip(". ") or "table"
    if len(safe.encode()) > _NAME_BYTES:
        digest = hashlib.sha256(stem.encode()).hexdigest()[:8]
        safe = f"{safe.encode()[:_NAME_BYTES].decode('utf-8', 'ignore')}_{digest}"
    return safe + ending


def natural(name: str) -> list[tuple[int, int | str]]:
    """Key that sorts names as people count: `task_2` before `task_10`."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.findall(r"[0-9]+|[^0-9]+", name)]


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; not where the name is too long, or the way to it is closed."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether there is such a file; not where the name is too long, or the way to it is closed."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def other_folder(file: Path) -> Path:
    """A path beside this file that no file has: for a folder in its place."""
    names = (file.stem, *(f"{file.stem}_out{number or ''}" for number in range(100)))
    return next((path for path in map(file.with_name, names) if not is_file(path)), file.parent)


def check_folder(given: str | Path, what: str) -> None:
    """Raise InputError where `what`, as "the folder with the tables", is not there, or is a file: it lies in a folder."""
    path = expand(given)
    if is_file(path):
        hint = f"give its folder: {path.parent if path.parent.name else path.absolute().parent}"
        raise InputError(f"{str(given)!r} is a file, and {what} is wanted", hint)
    if not str(given).strip() or not is_folder(path):
        raise InputError(f"there is no folder {str(given)!r}", f"give the path of {what}")
