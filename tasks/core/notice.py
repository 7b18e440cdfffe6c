"""What takes long, said to whoever listens: the command line's progress, else the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar

listener: ContextVar[Callable[[str], None] | None] = ContextVar("notice", default=None)


def say(text: str) -> None:
    """One line for a reader who waits."""
    if hear := listener.get():
        hear(text)
    else:
        logging.getLogger("tablewright").info(text)
