"""profile + metadata → the profile with what is said of its tables and columns, for prompts and for searching."""

from __future__ import annotations

from tasks.core.models.catalogue import ColumnProfile, Profile, TableProfile
from tasks.core.models.metadata import ColumnInfo, Metadata, Overrides, TableInfo


def add_words(profile: Profile, metadata: Metadata, only: Overrides | None = None) -> Profile:
    """Descriptions and aliases of tables, descriptions, aliases and units of columns.

    `only`: of what a metadata.yaml describes, and nothing else; a small folder is shown whole, other words included.
    """
    tables = {info.name: info for info in metadata.tables if _says(info)}
    columns = {info.id: info for info in metadata.columns if _says(info)}
    if only is not None:
        noted = {note.name.casefold() for note in only.tables}
        fields = {(note.table.casefold(), note.name.casefold()) for note in only.columns}
        tables = {name: info for name, info in tables.items() if name.casefold() in noted}
        columns = {id: c for id, c in columns.items() if (c.table.casefold(), c.name.casefold()) in fields}
    if not tables and not columns:
        return profile
    return profile.model_copy(update={"tables": tuple(_table(t, tables.get(t.name), columns) for t in profile.tables)})


def _says(info: TableInfo | ColumnInfo) -> bool:
    return bool(info.description or info.aliases or (isinstance(info, ColumnInfo) and info.unit))


def _table(table: TableProfile, info: TableInfo | None, columns: dict[str, ColumnInfo]) -> TableProfile:
    said = description(info.description, info.aliases) if info else ""
    told = tuple(_column(column, columns.get(f"{table.name}.{column.name}")) for column in table.columns)
    return table.model_copy(update={"about": said, "columns": told})


def _column(column: ColumnProfile, info: ColumnInfo | None) -> ColumnProfile:
    if info is None:
        return column
    said = description(info.description or column.meaning, info.aliases)
    return column.model_copy(update={"meaning": said, "unit": info.unit or column.unit})


def description(text: str, aliases: tuple[str, ...]) -> str:
    """What it is, and what else it is called."""
    also = f"also called {', '.join(aliases)}" if aliases else ""
    return "; ".join(part for part in (text, also) if part)
