"""A candidate that was replayed → the task's table at once, before validators have seen it; the answer takes its place."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from tasks.core.files import store as stores
from tasks.core.models.evidence import Checked

keeper: ContextVar[Callable[[bytes], None] | None] = ContextVar("keeper", default=None)
"""Takes the CSV file of each candidate; a batch sets it, whoever asks one question waits for the answer."""


def keep(checked: Checked) -> None:
    """Give away the table, if there is one and somebody wants it."""
    if (take := keeper.get()) and checked.table:
        take(stores.current().get(checked.table.file))
