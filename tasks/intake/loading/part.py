"""What a reader hands back: one table as it lies in the DuckDB file, before its final name."""

from __future__ import annotations

from tasks.core.models.catalogue import Column
from tasks.core.models.value import Value


class Part(Value):
    """One table of a source file."""

    stored: str
    """Its name in the DuckDB file until all names are known."""
    name: str
    """Its name in the source."""
    inner: str = ""
    columns: tuple[Column, ...]
    rows: int
    set_aside: int = 0
    """Rows in `<stored>__set_aside`."""
    titles: int = 0
    """Those of them that stood above the header: they are no rows that could not be read."""
    notes: tuple[str, ...] = ()


class Loaded(Value):
    """One source file, read."""

    parts: tuple[Part, ...] = ()
    unread: tuple[str, ...] = ()
    """What of it could not be read, and why."""
    error: str = ""
    """Why nothing of it could be read."""
    passing: bool = False
    """The error may be gone the next time: the file changed while it was read, or time was over."""
    disk: str = ""
    """What the disk said when it took no more; the run cannot go on then."""
