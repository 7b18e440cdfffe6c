"""derived tables → `derived/<stem>.sqlite` in the caller's folder, where `document` runs alone."""

from __future__ import annotations

from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.files import store as stores
from tasks.core.models.document import DerivedTable
from tasks.stage import stage


@stage(fresh=True)
async def deliver_tables(tables: tuple[DerivedTable, ...], out: str) -> tuple[str, ...]:
    """Write each table's database, whole or not at all; names relative to `out`.

    Raises InputError when the folder cannot be written.
    """
    place = Path(out).expanduser().absolute()
    names = []
    try:
        for table in tables:
            stores.Folder(place).write(table.file, stores.current().get(table.database))
            names.append(table.file)
    except OSError as error:
        hint = "choose a folder that you may write to, on a disk with room"
        raise InputError(f"cannot write the tables to {out!r}: {error.strerror}", hint) from error
    return tuple(names)
