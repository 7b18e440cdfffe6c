"""Files of a folder as the run found them → those that were changed or removed before it ended."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tasks.core.files.store import digest_file
from tasks.core.models.source import Inventory, SourceFile


class _Mark(NamedTuple):
    """What changes with a file's content, as a rule."""

    size: int
    changed: int
    """Nanoseconds; of the file or of what is known of it, whichever is later."""
    number: int


class Watched:
    """The files that a run reads. Made after they were listed; those that changed since the run began are compared by content."""

    def __init__(self, inventory: Inventory, began: float) -> None:
        """`began` in seconds since the epoch: a file that has not been touched since need not be read again."""
        self.root = Path(inventory.root)
        self.files = [file for file in inventory.files if file.sha256 and file.outcome not in ("ignored", "unreadable")]
        self.began = int((began - 2) * 1e9)  # file systems keep times to two seconds at worst
        self.marks = {file.path: _mark(self.root / file.path) for file in self.files}

    def changed(self) -> tuple[str, ...]:
        """A sentence for each file that is not what was read; costs a look at each, and reading those that were touched."""
        return tuple(filter(None, map(self._said, self.files)))

    def _said(self, file: SourceFile) -> str:
        path = self.root / file.path
        mark = _mark(path)
        if mark is None:
            return f"{file.path} was removed while the run read the folder; the answer is of what it held before"
        if mark == self.marks[file.path] and mark.changed < self.began:
            return ""
        try:
            same = digest_file(path) == file.sha256
        except OSError:
            return f"{file.path} can no longer be read; the answer is of what it held before"
        return (
            ""
            if same
            else f"{file.path} was changed while the run read the folder; ask again to have what it holds now"
        )


def _mark(path: Path) -> _Mark | None:
    """None when the file is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _Mark(status.st_size, max(status.st_mtime_ns, status.st_ctime_ns), status.st_ino)
