"""profile + the tables of a question → those that the time for all tables did not reach, and the profile with them measured."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.core.models.catalogue import Catalogue, ColumnProfile, Profile, TableProfile
from tasks.core.models.context import Context
from tasks.core.models.metadata import Metadata
from tasks.core.sql.columns import NO_TIME
from tasks.solve.showing.about import add_words

LACKING = "not measured: "
"""Begins the note of a column that says why."""
_OPEN = "columns were not measured; each says why"


def lacking(table: TableProfile) -> int:
    """Columns of the table that were not measured."""
    return sum(any(note.startswith(LACKING) for note in column.notes) for column in table.columns)


def _unreached(table: TableProfile) -> bool:
    return any(LACKING + NO_TIME in column.notes for column in table.columns)


def said(tables: Sequence[TableProfile]) -> tuple[str, ...]:
    """The note that counts columns that were not measured; none where all were."""
    missed, every = sum(map(lacking, tables)), sum(len(table.columns) for table in tables)
    return (f"{missed} of {every} {_OPEN}",) if missed else ()


def late(catalogue: Catalogue, profile: Profile, context: Context) -> Catalogue:
    """The catalogue of those tables in context that have a column for which no time was left; what failed would fail again."""
    names = {table.name for table in context.tables}
    wanted = {table.name for table in profile.tables if table.name in names and _unreached(table)}
    return catalogue.model_copy(update={"tables": tuple(t for t in catalogue.tables if t.name in wanted)})


def with_late(profile: Profile, measured: Profile, metadata: Metadata) -> Profile:
    """The profile with the tables of another in place of its own, and with the joins among them."""
    new = {table.name: table for table in add_words(measured, metadata).tables}
    tables = tuple(_as_told(new[t.name], t) if t.name in new else t for t in profile.tables)
    known = {(j.left_table, j.left_column, j.right_table, j.right_column) for j in profile.joins}
    found = [j for j in measured.joins if (j.left_table, j.left_column, j.right_table, j.right_column) not in known]
    rest = tuple(note for note in profile.notes if not note.endswith(_OPEN))
    return Profile(tables=tables, joins=(*profile.joins, *found), notes=(*said(tables), *rest))


def _as_told(new: TableProfile, old: TableProfile) -> TableProfile:
    """What was measured late with what was told before: among a few tables a definition of an absent one looks like nobody's."""
    told = {column.name: column for column in old.columns}
    return new.model_copy(update={"columns": tuple(_column(column, told[column.name]) for column in new.columns)})


def _column(new: ColumnProfile, old: ColumnProfile) -> ColumnProfile:
    measured = new.unit if new.meaning == old.meaning else ""
    return new.model_copy(update={"meaning": old.meaning, "unit": old.unit or measured})
