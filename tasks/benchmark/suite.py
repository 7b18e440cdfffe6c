"""a folder of tasks with gold (+ its manifest) → a suite whose tasks are known to be what they were."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from tasks.benchmark.score import gold_tables
from tasks.core.errors import InputError
from tasks.core.files.paths import check_folder, is_file, is_folder
from tasks.core.files.store import Folder, digest_file
from tasks.core.models.benchmark import Suite, SuiteTask
from tasks.stage import stage

MANIFEST = "suite.json"
DISPUTED = "disputed.toml"
WANTED = "a folder of tasks with gold, or of its manifest"
_HOLDS = "a suite holds TASK/task.json with TASK/context/, and gold/TASK/gold.csv"
_LISTED = 5


@stage(fresh=True)
async def open_suite(path: str) -> Suite:
    """The suite of a folder, or of a manifest that names its folder; with its disputed tasks.

    Raises InputError when a task is not what the manifest says, so that no score is compared with that of other data.
    """
    suite, found = read_suite(Path(path))
    if suite.version and (changes := differences(suite.tasks, found)):
        raise InputError(
            f"the suite {suite.name} {suite.version} is not what its manifest says: {_short(changes)}",
            f"restore the files, or give it a new version: tablewright suite write {suite.folder} --version …",
        )
    return suite.model_copy(update={"tasks": found})


def read_suite(path: Path) -> tuple[Suite, tuple[SuiteTask, ...]]:
    """What the manifest says, and the tasks as they are now; without a manifest the version is empty.

    Raises InputError when there is no suite.
    """
    if not is_file(path):
        check_folder(path, WANTED)
    manifest, folder = path if is_file(path) else path / MANIFEST, folder_of(path)
    said = _manifest(manifest) if is_file(manifest) else None
    found = take(folder)
    suite = said or Suite(name=folder.resolve().name, folder=str(folder), tasks=found)
    known = {task.task for task in found}
    return suite.model_copy(update={"folder": str(folder), "disputed": _disputed(manifest, folder, known)}), found


def folder_of(path: Path) -> Path:
    """Where the tasks of a suite lie: the folder itself, or the one that its manifest names."""
    manifest = path if is_file(path) else path / MANIFEST
    return (manifest.parent / _manifest(manifest).folder).resolve() if is_file(manifest) else path


def take(folder: Path) -> tuple[SuiteTask, ...]:
    """Every task of a folder that has gold, with its digests. Raises InputError when there is none, or no such folder."""
    check_folder(folder, WANTED)
    if not is_folder(folder / "gold"):
        raise InputError(f"{folder} has no folder gold/", _HOLDS)
    tables = gold_tables(folder / "gold")
    tasks = [gold.parent for gold in tables if is_folder(folder / gold.parent.name)]
    found = tuple(
        SuiteTask(task=gold.name, asked=digest(folder / gold.name), gold=digest(gold))
        for gold in tasks
        if any(path.name.lower() == "task.json" for path in (folder / gold.name).iterdir())
    )
    if not found:
        raise InputError(f"no task of {folder} has gold", _HOLDS)
    return found


def write(path: Path, target: Path | None, name: str, version: str, as_of: date) -> Suite:
    """Write the manifest of a folder, into it or as the file `target`; an old one with that version must be the same."""
    file = target or path / MANIFEST
    suite = Suite(name=name or path.resolve().name, version=version, as_of=as_of, folder=".", tasks=take(path))
    if is_file(file):
        old = _manifest(file)
        if old.version == version and (changes := differences(old.tasks, suite.tasks)):
            raise InputError(f"version {version} is taken, and differs: {_short(changes)}", "choose a new --version")
    folder = os.path.relpath(path.resolve(), file.parent.resolve())
    text = suite.model_copy(update={"folder": Path(folder).as_posix()}).model_dump_json(indent=2, exclude={"disputed"})
    try:
        Folder(file.parent).write(file.name, f"{text}\n".encode())
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}", "name another file with --out") from error
    return suite


def differences(said: tuple[SuiteTask, ...], found: tuple[SuiteTask, ...]) -> list[str]:
    """Each task that is gone, new or changed, and in which part."""
    before, after = {t.task: t for t in said}, {t.task: t for t in found}
    lines = [f"{name} is gone" for name in before if name not in after]
    lines += [f"{name} is new" for name in after if name not in before]
    for name in before.keys() & after.keys():
        parts = [p for p in ("asked", "gold") if getattr(before[name], p) != getattr(after[name], p)]
        if parts:
            lines.append(
                f"{name} has another {' and another '.join({'asked': 'task', 'gold': 'gold'}[p] for p in parts)}"
            )
    return sorted(lines)


def digest(folder: Path) -> str:
    """SHA-256 over the paths and contents of a folder's files, whatever their order on disk."""
    made = hashlib.sha256()
    for name, path in sorted(_files(folder)):
        made.update(f"{name}\0{digest_file(path)}\n".encode("utf-8", "surrogateescape"))
    return made.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def _manifest(path: Path) -> Suite:
    try:
        return Suite.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.strerror
        raise InputError(
            f"{path} is no manifest of a suite: {said}", "write it: tablewright suite write DIR"
        ) from error


def _disputed(manifest: Path, folder: Path, known: set[str]) -> dict[str, str]:
    """`TASK = "reason"` lines beside the manifest, else beside the gold tables."""
    path = next((p for p in (manifest.parent / DISPUTED, folder / "gold" / DISPUTED) if is_file(p)), None)
    if path is None:
        return {}
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}", 'one line a task: task_3 = "why its gold is wrong"') from error
    for task, reason in said.items():
        if task not in known or not isinstance(reason, str) or not reason.strip():
            raise InputError(
                f"{path}: {task} {'has no reason' if task in known else 'is no task of this suite'}",
                'one line a task: task_3 = "why its gold is wrong"',
            )
    return said


def _short(lines: list[str]) -> str:
    more = f", and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
    return ", ".join(lines[:_LISTED]) + more
