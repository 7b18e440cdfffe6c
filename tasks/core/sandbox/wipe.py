"""A child's scratch folder → its size; gone afterwards, however deep and closed it was left."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path


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
