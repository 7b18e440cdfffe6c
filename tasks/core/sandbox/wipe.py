"""A child's scratch folder: made, measured, and gone afterwards, however deep and closed it was left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SHORT_LIVED_USERS = range(61184, 65520)
"""User numbers that systemd sets aside for short-lived users; below 65536, so that containers have them too."""
_PREFIX = "tablewright-program-"
_YOUNG_SECONDS = 60


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder of our own for one program; those of a tablewright that was killed are removed on the way."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            _sweep(left)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        try:
            wipe(folder)
        finally:
            os.close(lock)


def _sweep(left: Path) -> None:
    """Remove a folder that is ours, private, and locked by nobody: the lock of a killed process is gone with it."""
    found = left.lstat()
    ours = found.st_uid == os.geteuid() or (os.geteuid() == 0 and found.st_uid in SHORT_LIVED_USERS)
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if not ours or not private or time.time() - found.st_mtime < _YOUNG_SECONDS:
        return
    lock = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        wipe(left)
    finally:
        os.close(lock)


def usage(folder: Path, most: int) -> tuple[int, int]:
    """Bytes on disk and number of entries below a folder; stops counting at `most` entries. Follows no link."""
    size, count, todo = 0, 0, [str(folder)]
    while todo and count <= most:
        try:
            for entry in os.scandir(todo.pop()):
                count += 1
                size += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
        except FileNotFoundError:
            continue  # gone meanwhile; the next look counts anew
        except OSError:
            return size, most + 1  # too deep for a path, or closed to its owner: nothing a program needs
    return size, count


def wipe(folder: Path) -> None:
    """Remove a folder whose content is hostile: nested beyond any path length, unreadable, full of links."""
    number, prefix = 0, f".{secrets.token_hex(8)}"
    folder.chmod(0o700)
    while folders := _without_files(folder):
        for path in folders:
            for inner in _without_files(path):
                number += 1
                inner.rename(folder / f"{prefix}-{number}")
            with contextlib.suppress(FileNotFoundError):
                path.rmdir()
    shutil.rmtree(folder, ignore_errors=True)


def _without_files(folder: Path) -> list[Path]:
    folders = []
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            Path(entry.path).chmod(0o700)
            folders.append(Path(entry.path))
        else:
            Path(entry.path).unlink(missing_ok=True)
    return folders
