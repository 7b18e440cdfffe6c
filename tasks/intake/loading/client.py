"""The parent's side of the loading child: open, one request a file, finish; a full disk ends the run, a bad file only itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.process import ChildError, Worker
from tasks.core.sections import IntakeSettings
from tasks.intake.loading.part import Loaded

_START_SECONDS = 120
_FINISH_SECONDS = 600
_ROOM_BYTES = 1 << 20
"""A disk with less room counts as full."""


class Client:
    """Fills one DuckDB file, `what` by name in messages; the child is made anew when it was stopped."""

    def __init__(self, database: Path, what: str, limits: IntakeSettings) -> None:
        self._worker = Worker("tasks.intake.loading.loader", limits.memory_mb, forked=True)
        self._limits = limits
        self._database = database
        self._what = what
        self._scratch = database.parent / "scratch"
        self._scratch.mkdir()
        self._number = 0
        self.passing = False
        """Whether a file failed for a reason that may be gone the next time."""

    async def open(self, small: bool = False) -> None:
        """Open the database, for `small` tables or any. Raises InputError when the child cannot do even that."""
        try:
            await self._ask({"small": small}, _START_SECONDS)
        except ChildError as error:
            self._check_room(error, f"open {self._what}")
            raise InputError(
                f"files cannot be read here: the reading process {error.message}", hint(self._limits)
            ) from error

    async def load(self, path: Path, sha256: str, kind: str, shown: str, **more: Any) -> Loaded:
        """Load one file, `shown` by this name in messages; `more` is what its kind needs. Raises InputError for want of disk."""
        self._number += 1
        request = {
            "path": str(path),
            "sha256": sha256,
            "kind": kind,
            "stored": f"source_{self._number}",
            "sample_bytes": self._limits.sample_bytes,
            "seconds": self._limits.file_seconds,
            **more,
        }
        try:
            loaded = Loaded.model_validate(await self._ask(request, self._limits.file_seconds))
        except ChildError as error:
            self._check_room(error, f"load {shown}")
            loaded = Loaded(error=f"reading it {error.message}", passing=error.stopped == "time")
        if loaded.disk:
            raise _no_room(f"load {shown}", loaded.disk)
        self.passing |= loaded.passing
        return loaded

    async def finish(self, renames: Sequence[tuple[str, str]]) -> None:
        """Give every table (as it is stored) its final name and close the file. Raises InputError when that fails."""
        try:
            await self._ask({"names": [*renames]}, _FINISH_SECONDS)
        except ChildError as error:
            self._check_room(error, f"finish {self._what}")
            raise InputError(f"{self._what} cannot be finished: the process {error.message}", "run again") from error

    async def close(self) -> None:
        """End the child."""
        await self._worker.close()

    def _check_room(self, error: ChildError, what: str) -> None:
        """Raise InputError when a child ended for want of disk; on a full one its last words may be lost too."""
        full = min(shutil.disk_usage(place).free for place in (self._scratch, tempfile.gettempdir())) < _ROOM_BYTES
        if error.stopped == "disk" or (error.stopped == "died" and full):
            raise _no_room(what, error.message if error.stopped == "disk" else "the disk is full") from error

    async def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        return await self._worker.ask(
            {**request, "database": str(self._database), "scratch": str(self._scratch)}, seconds
        )


def hint(limits: IntakeSettings) -> str:
    """The next step where the child itself, or a file of ours, cannot be read."""
    return f"see `tablewright doctor`; where memory is short, raise intake.memory_mb ({limits.memory_mb})"


def _no_room(what: str, message: str) -> InputError:
    return InputError(f"no room to {what}: {message}", "free disk space, or set store.path and TMPDIR to another disk")
