"""Python's search for cycles, paused while many objects are made that are all kept: it would walk them again and again."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Nothing is collected inside; cycles left there are found afterwards. Wait for nothing inside: it holds for the whole process."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
