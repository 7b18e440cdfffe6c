"""derived tables → `derived/<stem>.sqlite` in the caller's folder, where `document` runs alone."""

from __future__ import annotations

from tasks.core.files import store as stores
from tasks.core.files.caller import write_all
from tasks.core.models.document import DerivedTable
from tasks.stage import stage


@stage(fresh=True)
async def deliver_tables(tables: tuple[DerivedTable, ...], out: str) -> tuple[str, ...]:
    """Write each table's database, whole or not at all; names relative to `out`.

    Raises InputError when the folder cannot be written.
    """
    files = {table.file: stores.current().get(table.database) for table in tables}
    write_all(out, files, "the tables")
    return tuple(files)
