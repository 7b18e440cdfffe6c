"""What metadata.yaml says of tables and columns, over what was found; and what of it the catalogue lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tasks.core.models.catalogue import Profile
from tasks.core.models.metadata import ColumnInfo, ColumnNote, Overrides, TableInfo, TableNote
from tasks.solve.describing.names import Names, column_id


class Notes:
    """The notes of a file by canonical table and by id; `problems` are those that fit nothing."""

    def __init__(self, overrides: Overrides, names: Names) -> None:
        self._names = names
        self.tables: dict[str, TableNote] = {}
        self.columns: dict[str, ColumnNote] = {}
        self.problems: list[str] = []
        self._path = overrides.path
        for table in overrides.tables:
            if found := self._table(table.name, table.line):
                self.tables[found] = table
        missing: set[str] = {note.name for note in overrides.tables if not names.table(note.name)}
        for column in overrides.columns:
            if column.table not in missing:
                self._column(column)

    def _table(self, name: str, line: int) -> str:
        found = self._names.table(name)
        if not found:
            several = len(self._names.tables.get(name.casefold(), [])) > 1
            near = self._names.near(name, self._known())
            self.problems.append(
                f"{self._path}:{line}: {'several tables are' if several else 'no table is'} called {name!r}{near}"
            )
        return found

    def _known(self) -> list[str]:
        return [table for tables in self._names.tables.values() for table in tables]

    def _column(self, note: ColumnNote) -> None:
        table = self._table(note.table, note.line)
        if not table:
            return
        if found := self._names.column(table, note.name):
            self.columns[found] = note
            return
        own = [
            made.removeprefix(f"{table}.") for made in self._names.by_id.values() if self._names.owner(made) == table
        ]
        near = self._names.near(note.name, own)
        self.problems.append(f"{self._path}:{note.line}: table {table!r} has no column {note.name!r}{near}")

    def teach(self) -> None:
        """Let the aliases of columns stand for them in formulas."""
        for made, note in self.columns.items():
            for alias in note.aliases:
                self._names.add_alias(alias, made)

    def on_column(self, info: ColumnInfo, rates: Mapping[tuple[str, str], float]) -> ColumnInfo:
        """The column with what its note says; `rates` are measured matches by both ids."""
        note = self.columns.get(info.id)
        if note is None:
            return info
        changes: dict[str, Any] = {key: value for key in ("description", "unit") if (value := getattr(note, key))}
        if note.aliases:
            changes["aliases"] = tuple(dict.fromkeys((*note.aliases, *info.aliases)))
        role = note.role or ("foreign_key" if note.refers_to else None)
        if role:
            changes |= {"role": role, "basis": "metadata"} | self._target(info, note, role, rates)
        return info.model_copy(update=changes)

    def _target(
        self, info: ColumnInfo, note: ColumnNote, role: str, rates: Mapping[tuple[str, str], float]
    ) -> dict[str, Any]:
        if role != "foreign_key":
            return {"refers_to": "", "match_rate": None}
        if not note.refers_to:
            return {}
        target = self._names.resolve(note.refers_to)
        if not target:
            near = self._names.near(note.refers_to, self._names.by_id.values())
            self.problems.append(f"{self._path}:{note.line}: {note.refers_to!r} is no column of a table{near}")
            return {}
        return {"refers_to": target, "match_rate": rates.get((info.id, target))}

    def on_table(self, info: TableInfo) -> TableInfo:
        """The table with what its note says."""
        note = self.tables.get(info.name)
        if note is None:
            return info
        changes: dict[str, Any] = {"description": note.description} if note.description else {}
        if note.aliases:
            changes["aliases"] = tuple(dict.fromkeys((*note.aliases, *info.aliases)))
        if note.role:
            changes |= {"role": note.role, "basis": "metadata"}
        return info.model_copy(update=changes)


def measured_rates(profile: Profile) -> dict[tuple[str, str], float]:
    """Measured matches by the ids of both columns."""
    return {
        (column_id(j.left_table, j.left_column), column_id(j.right_table, j.right_column)): j.match_rate
        for j in profile.joins
    }


def by_table(columns: Iterable[ColumnInfo]) -> dict[str, list[ColumnInfo]]:
    """Columns under their table."""
    made: dict[str, list[ColumnInfo]] = {}
    for column in columns:
        made.setdefault(column.table, []).append(column)
    return made
