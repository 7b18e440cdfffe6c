"""`accepted.json` of a results folder: which run later ones are held against."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tasks.benchmark.results import runs
from tasks.core.errors import InputError
from tasks.core.files.store import Folder

_FILE = "accepted.json"


def accepted(results: Path) -> list[str]:
    """Names of accepted runs, the last one last. Raises InputError when the file cannot be used."""
    data = Folder(results).read(_FILE)
    try:
        return [str(entry["run"]) for entry in json.loads(data)] if data else []
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"cannot use {results / _FILE}: {error}", "mend or remove it") from error


def accept(results: Path, run: str) -> None:
    """Make a run the one that later ones are held against. Raises InputError when it did not come to its end."""
    if run not in {folder.name for folder in runs(results)}:
        raise InputError(f"there is no run {run!r} in {results} that ended", "see `tablewright benchmark list`")
    old = Folder(results).read(_FILE)
    entries = [*(json.loads(old) if old and accepted(results) else []), {"run": run, "at": _now()}]
    Folder(results).write(_FILE, json.dumps(entries, ensure_ascii=False, indent=2).encode())


def baseline(results: Path, which: Literal["accepted", "previous", "none"], run: str) -> Path | None:
    """Folder of the run that `run` is held against; None when there is none yet."""
    ended = [folder for folder in runs(results) if folder.name != run]
    if which == "accepted":
        names = [name for name in accepted(results) if name != run]
        return next((folder for folder in ended if names and folder.name == names[-1]), None)
    earlier = sorted((f for f in ended if _age(f) < _age(results / run)), key=_age)
    return earlier[-1] if which == "previous" and earlier else None


def _age(folder: Path) -> str:
    """When a run began; empty where nobody wrote it down."""
    try:
        return str(json.loads((folder / "run.json").read_bytes())["began"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
