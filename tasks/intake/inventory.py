"""Folder → Inventory: every file, what it is, and what shall become of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tasks.core.errors import InputError
from tasks.core.files.paths import check_folder, expand
from tasks.core.files.store import digest_file
from tasks.core.models.source import Inventory, Outcome, SourceFile
from tasks.core.sections import IntakeSettings
from tasks.intake.listing.kinds import HEAD, is_frames_file, judge
from tasks.stage import stage


class _Found(NamedTuple):
    """A path below the folder; with a reason when it is not followed."""

    path: str
    reason: str = ""
    outcome: Outcome = "ignored"


@stage(fresh=True)
async def take_inventory(folder: str, limits: IntakeSettings) -> Inventory:
    """List a folder and judge each of its files.

    Raises InputError for a folder that is missing, no folder, unreadable, empty, or has more than `max_files` files.
    """
    root = _root(folder)
    found = sorted(_walk(root, limits.max_files), key=lambda item: item.path)
    if not found:
        raise InputError(f"the folder {root} is empty", "put the data files into it, or give another folder")
    task = any(item.path.lower() == "task.json" for item in found) and (root / "context").is_dir()
    files = tuple(_file(root, item, "context" if task else "") for item in found)
    return Inventory(root=str(root), context="context" if task else "", files=files)


def _root(folder: str) -> Path:
    path = expand(folder)
    try:
        check_folder(folder, "the folder with the data")
        with os.scandir(path):
            return path.resolve()
    except OSError as error:
        raise InputError(
            f"the folder {folder!r} cannot be read: {error.strerror}", "give it read permission"
        ) from error


def _walk(root: Path, most: int) -> Iterator[_Found]:
    count = 0
    waiting: list[tuple[str, tuple[str, ...]]] = [("", (str(root),))]
    while waiting:
        below, above = waiting.pop()
        for item in _entries(root, below, above, waiting):
            count += 1
            if count > most:
                raise InputError(
                    f"the folder {root} holds more than {most:,} files",
                    "give the folder of the data itself, or raise intake.max_files",
                )
            yield item


def _entries(
    root: Path, below: str, above: tuple[str, ...], waiting: list[tuple[str, tuple[str, ...]]]
) -> Iterator[_Found]:
    """Files of one folder; its sub-folders are added to `waiting` with the folders above them."""
    try:
        with os.scandir(root / below) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield _Found(below, f"the folder cannot be read: {error.strerror}", "unreadable")
        return
    for entry in listed:
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.name.startswith(".") or entry.name == "__MACOSX":
            yield _Found(path, "hidden folder" if entry.is_dir(follow_symlinks=False) else "hidden file")
            continue
        real = os.path.realpath(entry.path)
        if entry.is_symlink() and (reason := _refused(root, real, above)):
            yield _Found(path, reason)
            continue
        if entry.is_dir():
            waiting.append((path, (*above, real)))
        else:
            yield _Found(path)


def _refused(root: Path, real: str, above: tuple[str, ...]) -> str:
    if os.path.commonpath([str(root), real]) != str(root):
        return "a link that leaves the folder"
    if not Path(real).exists():
        return "a link to nothing"
    return "a link back to a folder above it" if real in above else ""


def _file(root: Path, item: _Found, context: str) -> SourceFile:
    shown = item.path.encode("utf-8", "backslashreplace").decode()
    if item.reason:
        return SourceFile(path=shown, kind="other", size=0, outcome=item.outcome, reason=item.reason)
    if shown != item.path:
        reason = "its name is not valid UTF-8: rename it"
        return SourceFile(path=shown, kind="other", size=0, outcome="unreadable", reason=reason)
    path = root / item.path
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return SourceFile(path=shown, kind="other", size=0, outcome="ignored", reason="not a regular file")
        with path.open("rb") as file:
            head = file.read(HEAD)
        digest = digest_file(path)
    except OSError as error:
        kind = judge(shown, b"", 0).kind
        reason = f"cannot be read: {error.strerror}"
        return SourceFile(path=shown, kind=kind, size=0, outcome="unreadable", reason=reason)
    kind, outcome, reason = judge(shown, head, status.st_size)
    if shown.lower() == "task.json":
        kind, outcome, reason = "task", "ignored", "holds the question"
    elif not (_is_below(shown, context) or kind == "metadata" or is_frames_file(shown)):
        outcome, reason = "ignored", f"lies outside {context}/, where the sources of a task are"
    return SourceFile(path=shown, kind=kind, size=status.st_size, sha256=digest, outcome=outcome, reason=reason)


def _is_below(path: str, context: str) -> bool:
    return not context or path.startswith(f"{context}/")
