"""Snapshot of a live database → its entry among the files, and its tables under their own names."""

from __future__ import annotations

import hashlib

from tasks.core.models.catalogue import Column
from tasks.core.models.source import Snapshot, SourceFile, TableSnapshot
from tasks.intake.loading.part import Part


def source_of(snapshot: Snapshot) -> SourceFile:
    """The database as a file of the catalogue: its digest is that of all contents and names."""
    listed = "\n".join(f"{table.content.sha256} {table.name}" for table in snapshot.tables)
    return SourceFile(
        path=snapshot.address,
        kind="database",
        size=sum(table.content.size for table in snapshot.tables),
        sha256=hashlib.sha256(listed.encode()).hexdigest() if snapshot.tables else "",
        outcome="table" if snapshot.tables else "unreadable",
        reason=f"live database: {snapshot.error or 'it holds no table'}" if not snapshot.tables else "",
        taken_at=snapshot.taken_at,
    )


def named(part: Part, table: TableSnapshot) -> Part:
    """A table read from its Parquet file, as the database calls it, with what was noticed there."""
    said = (*table.said, *("" for _ in part.columns[len(table.said) :]))
    columns = tuple(
        Column(name=column.name, type=column.type, notes=(*column.notes, *filter(None, (note,))))
        for column, note in zip(part.columns, said, strict=True)
    )
    notes = (*part.notes, *filter(None, (table.note,)))
    return part.model_copy(
        update={"name": table.name.rpartition(".")[2], "inner": table.name, "columns": columns, "notes": notes}
    )


def dated(files: tuple[SourceFile, ...], snapshots: tuple[Snapshot, ...]) -> tuple[SourceFile, ...]:
    """The files with the time of this run's snapshots: a catalogue from the records has that of the first with its content."""
    taken = {snapshot.address: snapshot.taken_at for snapshot in snapshots}
    return tuple(
        file.model_copy(update={"taken_at": taken.get(file.path, file.taken_at)}) if file.kind == "database" else file
        for file in files
    )
