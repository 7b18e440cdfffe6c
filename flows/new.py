"""Loose files → a task folder: each where its kind belongs, beside a knowledge.md to fill in. Nothing that is there is written over."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from flows.running.task import find_task, read_task
from tasks.core.errors import InputError
from tasks.core.files.paths import expand, is_folder
from tasks.core.models.source import FileKind
from tasks.core.models.value import Value
from tasks.intake.listing.kinds import HEAD, judge

_PLACES: dict[FileKind, str] = {
    "csv": "csv/",
    "json": "json/",
    "sqlite": "db/",
    "excel": "excel/",
    "parquet": "parquet/",
    "document": "doc/",
    "video": "video/",
    "knowledge": "",
    "metadata": "",
}
"""By kind the place in context/."""
_HINTS = """<!--
What the data alone do not say. Nothing between these marks is read as a fact: write below them, in lines like these.

Metrics        ## Metrics
               - Revenue = sum of amount where status is 'paid' (EUR)
Fields         ## Table `orders`
               - **amount (decimal, unit: EUR):** price of the order, without tax
Links          - orders.customer_id refers to customers.id
Rules          - Cancelled orders do not count.
Documents      a heading with a document's name and a list of fields as above: the table that shall be drawn from it
-->
"""


class Placed(Value):
    """One file that was given."""

    file: str
    """As it was given."""
    target: str = ""
    """Path in the folder; empty when it was left out."""
    kind: FileKind
    reason: str = ""
    """Why it was left out, or what is unusual of it."""


class NewFolder(Value):
    """A folder that was laid out, or added to."""

    folder: str
    question: str
    """That of its task.json; empty when there is none."""
    files: tuple[Placed, ...]
    wrote: tuple[str, ...]
    """Files that were made: task.json, context/knowledge.md."""


def lay_out(folder: str, files: tuple[str, ...], question: str = "", link: bool = False) -> NewFolder:
    """Copy (or hard-link) the files into the folder; what is left out is told with its reason.

    Raises InputError, with nothing written, where a file cannot be read, would take another one's place, none is of a kind that is read,
    or the folder holds files that are no task's.
    """
    root = expand(folder)
    asked = _check_folder(root, folder, question)
    placed = [_place(path) for path in _given(files)]
    _check_places(root, placed)
    texts = {}
    if question.strip() and not asked:
        told = {"task_id": root.resolve().name, "question": question}
        texts["task.json"] = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    if not any(one.kind == "knowledge" and one.target for one in placed) and not _has_knowledge(root):
        texts["context/knowledge.md"] = _HINTS
    _write(root, {one.target: expand(one.file) for one in placed if one.target}, texts, link)
    return NewFolder(folder=str(root), question=asked or question.strip(), files=tuple(placed), wrote=tuple(texts))


def _check_folder(root: Path, given: str, question: str) -> str:
    """The question that the folder asks already; empty when it asks none."""
    if os.path.lexists(root) and not is_folder(root):
        raise InputError(f"{given} is a file, and a folder is to be made", "choose another name for the folder")
    if not root.exists() or not any(_entries(root)):
        return ""
    if not is_folder(root / "context"):
        raise InputError(
            f"the folder {given} holds files already, and no context/ that more could be laid into",
            f'choose a new folder; or ask it as it is: tablewright answer {given} "question"',
        )
    task = read_task(given) if find_task(root) else None
    if task and question.strip() and task.question != question:
        raise InputError(
            f"the folder {given} has a task.json with another question: {task.question}",
            f'leave --question out, and ask yours by itself: tablewright answer {given} "{question}"',
        )
    return task.question if task else ""


def _entries(root: Path) -> list[Path]:
    try:
        return list(root.iterdir())
    except OSError as error:
        raise InputError(f"the folder {root} cannot be looked into: {error.strerror}", "give it permission") from error


def _given(files: tuple[str, ...]) -> list[str]:
    """The files, each once, and with a database its `-wal`, which may hold its last rows."""
    found: dict[str, str] = {}
    for name in files:
        found.setdefault(os.path.realpath(expand(name)), name)
        wal = f"{name}-wal"
        if expand(wal).is_file() and expand(wal).stat().st_size:
            found.setdefault(os.path.realpath(expand(wal)), wal)
    return list(found.values())


def _place(name: str) -> Placed:
    path = expand(name)
    if is_folder(path):
        raise InputError(
            f"{name} is a folder, and files are wanted",
            f'name its files: {path / "*"}; or ask the folder as it is: tablewright answer {name} "question"',
        )
    try:
        with path.open("rb") as file:
            head, size = file.read(HEAD), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InputError(f"the file {name} cannot be read: {error.strerror}", "look at its name and rights") from error
    if path.name.startswith("."):
        return Placed(file=name, kind="other", reason="hidden files are not read: rename it if it is needed")
    if path.name.lower() == "task.json":
        return Placed(file=name, kind="task", reason="it holds a question: give that with --question")
    kind, outcome, reason = judge(path.name, head, size)
    if path.name.endswith("-wal") and os.path.lexists(path.with_name(path.name.removesuffix("-wal"))):
        return Placed(file=name, target=f"context/db/{path.name}", kind=kind, reason=reason)
    if outcome in ("unreadable", "ignored"):
        return Placed(file=name, kind=kind, reason=reason)
    return Placed(file=name, target=f"context/{_PLACES[kind]}{path.name}", kind=kind, reason=reason)


def _check_places(root: Path, placed: list[Placed]) -> None:
    """Raise InputError where two files would be one, or take the place of one that is there; and where none is left."""
    taken: dict[str, Placed] = {}
    for one in (one for one in placed if one.target):
        other = taken.setdefault(one.target.casefold(), one)
        if other is not one:
            raise InputError(f"{other.file} and {one.file} would both be {one.target}", "rename one of them")
        if os.path.lexists(root / one.target):
            raise InputError(
                f"{one.target} is in {root} already, and is not written over",
                f"rename {one.file}, or remove that one yourself",
            )
    if not taken:
        why = "; ".join(f"{one.file}: {one.reason}" for one in placed)
        raise InputError(f"none of the files can be a source: {why}", "give a table or a document at least")


def _has_knowledge(root: Path) -> bool:
    found = root.rglob("*") if root.exists() else ()
    return any(path.name.casefold() in ("knowledge.md", "knowledge.txt", "knowledge.markdown") for path in found)


def _write(root: Path, copies: dict[str, Path], texts: dict[str, str], link: bool) -> None:
    """Make all of it or, where something fails, nothing."""
    made: list[Path] = []
    try:
        for name in (*copies, *texts):
            for folder in _folders((root / name).parent):
                made.append(folder)
            target = root / name
            if name in copies and link:
                os.link(copies[name].resolve(), target)
                made.append(target)
                continue
            with target.open("xb") as file:
                made.append(target)
                if name in texts:
                    file.write(texts[name].encode())
                else:
                    with copies[name].open("rb") as source:
                        shutil.copyfileobj(source, file)
    except BaseException as error:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink()
        if isinstance(error, OSError):
            hint = "leave --link out, so that files are copied" if link else "make room, or choose another folder"
            raise InputError(f"{root} cannot be laid out: {error.strerror} ({error.filename})", hint) from error
        raise


def _folders(folder: Path) -> Iterator[Path]:
    """Make a folder and those above it that are not there; each that was made, the outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir()
        yield path
