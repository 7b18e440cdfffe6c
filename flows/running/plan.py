"""tasks + time for all of them → which one next, how long it may take, and whether it must do with less."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from flows.running import machine
from flows.running.task import read_task
from tasks.core.errors import InputError
from tasks.core.sections import BatchSettings
from tasks.core.settings import Settings
from tasks.intake.listing.kinds import kind_by_name

_MB = 1 << 20
_WEIGHTS = {"document": 20.0, "video": 5.0}
"""A megabyte of text is read by a model, page after page; one of a table is not, and one of a film is seconds of it."""
_LEVELS = {"easy": 0.5, "simple": 0.5, "medium": 1.0, "moderate": 1.0, "hard": 2.0, "challenging": 2.0, "extreme": 4.0}
_MOST_FILES = 2000
"""Files of a task that are looked at: the plan is a guess."""


class Turn(NamedTuple):
    """A task that may start now."""

    task: str
    seconds: float
    """After which it shall ask no more; 0 = no limit of the batch's."""
    late: bool


class Plan:
    """Hands out tasks: without a deadline in their order, with one short ones first and each its share of the time."""

    def __init__(self, source: Path, tasks: Sequence[str], limits: BatchSettings, seconds: float | None) -> None:
        """`seconds` until no model is asked any more; None = no deadline."""
        self.limits = limits
        self._until = None if seconds is None else time.monotonic() + seconds
        weighed = tasks if seconds is None else sorted(tasks, key=lambda task: weigh(source / task))
        self._waiting = list(reversed(weighed))
        self._took: list[float] = []

    def next(self, places: int) -> Turn | None:
        """The next task for one of so many places; None when no more shall start.

        Each gets its share of what is left: what short ones leave over falls to those after them. It is late when that
        is less than `late_seconds`, or less than what those before it took on average.
        """
        if not self._waiting:
            return None
        if self._until is None:
            return Turn(self._waiting.pop(), 0.0, False)
        left = self._until - time.monotonic()
        if left <= 0:
            return None
        share = min(left, left * places / len(self._waiting))
        usual = sum(self._took) / len(self._took) if self._took else 0.0
        late = share < max(self.limits.late_seconds, usual)
        return Turn(self._waiting.pop(), min(left, max(share, self.limits.least_seconds)), late)

    def took(self, seconds: float) -> None:
        """A task with its whole profile ended after so long."""
        self._took.append(seconds)


def places(settings: Settings, wanted: int = 0) -> int:
    """Tasks at once: those wanted, else what the settings say, else one for each request that endpoints take at once and
    one for each core, as far as memory reaches. A model that this machine serves leaves one core's worth to the others.
    On several machines: one for each process, where the settings say how many there are."""
    if given := wanted or settings.batch.concurrency:
        return given
    if settings.machines.runner != "here" and settings.machines.shares > 1:
        return settings.machines.shares
    names = dict.fromkeys(name for role in settings.roles.values() for name in role.endpoints)
    used = [settings.endpoints[name] for name in names]
    cores = 1 if any(endpoint.serve for endpoint in used) else machine.cores()
    most, memory = sum(endpoint.concurrency for endpoint in used) + cores, machine.memory_mb()
    return most if memory is None else max(1, min(most, memory // settings.batch.task_mb))


def weigh(folder: Path) -> float:
    """How much work a task may be, in no unit; nothing that cannot be read stops it."""
    weight = 1.0
    with contextlib.suppress(OSError):
        for path in islice(folder.rglob("*"), _MOST_FILES):
            with contextlib.suppress(OSError):
                weight += _WEIGHTS.get(kind_by_name(path.name), 1.0) * path.stat().st_size / _MB
    return weight * _LEVELS.get(_difficulty(folder), 1.0)


def _difficulty(folder: Path) -> str:
    try:
        task = read_task(str(folder))
    except InputError:
        return ""
    return task.difficulty.strip().casefold() if task else ""
