"""What lies in the folder: files, and what became of each."""

from __future__ import annotations

from typing import Annotated, Literal

from tasks.core.models.value import Location, Value

FileKind = Literal[
    "csv",
    "json",
    "sqlite",
    "excel",
    "parquet",
    "database",
    "document",
    "knowledge",
    "metadata",
    "task",
    "video",
    "other",
]
"""`database` is a live one, which `metadata` (metadata.yaml) names."""
Outcome = Literal["table", "document", "knowledge", "video", "unreadable", "ignored"]
"""`video`: a video, or a text that was made of one beforehand."""


class ArtifactRef(Value):
    """A stored file, by content."""

    sha256: str
    name: str
    size: int
    """Bytes."""


class SourceFile(Value):
    """One file of the folder. `path` is relative, with forward slashes, as found."""

    path: str
    kind: FileKind
    size: int
    """Bytes."""
    sha256: str = ""
    """Empty when the file could not be read."""
    outcome: Outcome
    """`table` here means: to be registered; the catalogue has the last word."""
    reason: str = ""
    """Why it is unreadable or ignored; of a table file, what of it is unusual or could not be read; mostly empty."""
    taken_at: Annotated[str, Location()] = ""
    """Of a live database: when it was read, in UTC; no part of what it is, so that equal contents are equal."""


class Inventory(Value):
    """Every file of a folder, in path order."""

    root: Annotated[str, Location()]
    """Absolute path of the folder."""
    context: str = ""
    """Sub-folder with the sources, relative (`context` in a task folder, else empty)."""
    files: tuple[SourceFile, ...]

    def of(self, outcome: Outcome) -> tuple[SourceFile, ...]:
        """The files with this outcome."""
        return tuple(file for file in self.files if file.outcome == outcome)


class TableSnapshot(Value):
    """A table of a live database, as it was."""

    name: str
    """As the database calls it; `schema.table` outside of the usual schema."""
    content: ArtifactRef
    """Parquet."""
    rows: int
    note: str = ""
    said: tuple[str, ...] = ()
    """Of each column what a reader should know; mostly empty."""


class Snapshot(Value):
    """A live database, read in one transaction; equal contents are equal values, whenever they were read."""

    name: str
    """As metadata.yaml calls it."""
    address: str
    """URL without user and password."""
    tables: tuple[TableSnapshot, ...] = ()
    unread: tuple[str, ...] = ()
    """Tables that could not be read, and why."""
    error: str = ""
    """Why nothing could be read, with the next step."""
    server: Annotated[str, Location()] = ""
    """`PostgreSQL 15.18`"""
    taken_at: Annotated[str, Location()] = ""
    """The server's time when the transaction began, in UTC."""
