"""store → what no run has used for some time removed, and never what a run under way needs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from flows.running import draft, record
from flows.running.record import RUNNING, RunRecord
from tasks.core.errors import InputError
from tasks.core.files import lock
from tasks.core.files.store import GATE, Folder, Store
from tasks.core.models.value import Value

_DAY = 86_400.0
_MARGIN = 60.0
"""Seconds before a run's first record that still count as its time."""
_STANDING = {"locks", "living", GATE}
"""Of the cache: what others hold."""


class Removed(Value):
    """How much of one kind was removed, or would be."""

    kind: str
    count: int
    size: int
    """Bytes."""


class Cleaned(Value):
    """What came of it."""

    removed: tuple[Removed, ...]
    live: tuple[str, ...]
    """Runs under way; what they have used since they began is kept."""
    kept_runs: int


def clean(store: Store, days: float, journal: bool, dry: bool) -> Cleaned:
    """Remove runs, records, artifacts and scratch that nothing has used for so many days, with `journal` replies too; `dry`: only count.

    Artifacts that kept runs name are kept with them. Raises InputError for a store that is no folder.
    """
    if not isinstance(store.files, Folder):
        raise InputError(
            "the store is a Prefect block, where nothing says what was used last",
            "let the rules of its own service remove what is old",
        )
    return _Cleaner(store, store.files.root, days, dry).run(journal)


class _Cleaner:
    """One round over a store."""

    def __init__(self, store: Store, root: Path, days: float, dry: bool) -> None:
        self.store, self.root, self.dry = store, root, dry
        self.runs = [record.settle(store, found) for found in record.all_of(store)]
        self.live = [run for run in self.runs if run.status == RUNNING]
        held = [path.stat().st_mtime for path in _entries(store.cache / "living") if lock.holder(path) is not None]
        begun = [*map(_began, self.live), *held]
        self.before = min([time.time() - days * _DAY, *(moment - _MARGIN for moment in begun)])
        self.removed: dict[str, list[int]] = {}

    def run(self, journal: bool) -> Cleaned:
        """Runs first, then what they name: a record is never left without its artifacts."""
        kept = [run for run in self.runs if run.status == RUNNING or not self._remove_run(run)]
        known = {run.run for run in self.runs}
        for place in ("answers", "tables"):
            for folder in _entries(self.root / place):
                if folder.name not in known:
                    self._remove("files of runs", folder)
        for path in _files(self.root / draft.PLACE):
            self._remove("files of runs", path)
        for path in _files(self.root / "records"):
            self._remove("records of stages", path)
        needed = {digest for run in kept for digest in self._named(run)}
        for folder in (each for two in _entries(self.root / "artifacts") for each in _entries(two)):
            if folder.name not in needed:
                self._remove("artifacts", folder)
        for path in _files(self.root / "journal") if journal else ():
            self._remove("replies of models", path)
        for path in _entries(self.store.cache):
            if path.name not in _STANDING:
                self._remove("scratch", path)
        removed = tuple(Removed(kind=kind, count=n, size=size) for kind, (n, size) in self.removed.items())
        return Cleaned(removed=removed, live=tuple(run.run for run in self.live), kept_runs=len(kept))

    def _remove_run(self, run: RunRecord) -> bool:
        """Its record and its files in the store; those in a folder of the user's are the user's."""
        if not self._remove("runs", self.root / record.PLACE / f"{run.run}.json"):
            return False
        for place in ("answers", "tables"):
            folder = self.root / place / run.run
            if folder.is_dir():
                self._remove("files of runs", folder, old=True)
        return True

    def _named(self, run: RunRecord) -> Iterator[str]:
        """Digests of the artifacts that a kept run names, and of those that its catalogue names in turn."""
        if run.table:
            yield run.table.sha256
        if run.timeline:
            yield run.timeline.sha256
        if run.shelf:
            yield run.shelf.sha256
            with contextlib.suppress(InputError):
                yield from re.findall(r"[0-9a-f]{64}", self.store.get(run.shelf).decode())

    def _remove(self, kind: str, path: Path, old: bool = False) -> bool:
        """Remove a file or folder if nothing has used it; a run that starts to use it meanwhile comes before or after."""
        with lock.gate(self.store.cache / GATE, alone=True), contextlib.suppress(FileNotFoundError):
            if not old and path.stat().st_mtime >= self.before:
                return False
            size = sum(file.stat().st_size for file in _files(path)) if path.is_dir() else path.stat().st_size
            counted = self.removed.setdefault(kind, [0, 0])
            counted[0] += 1
            counted[1] += size
            if self.dry:
                return True
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            return True
        return False


def _began(run: RunRecord) -> float:
    """Seconds since the epoch; of a record that does not say so, the beginning of time: then nothing is removed."""
    try:
        return datetime.fromisoformat(run.began).timestamp()
    except ValueError:
        return 0.0


def _entries(folder: Path) -> list[Path]:
    """Files and folders of a folder; none when it is not there."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files(folder: Path) -> Iterator[Path]:
    """Every file below a folder."""
    for place, _, names in os.walk(folder):
        yield from (Path(place) / name for name in names)
