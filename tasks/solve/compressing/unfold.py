"""votes + context + profile → the tables to show and how much of each; the context's words are put into the profile's.

Columns that were found stand in detail, the others by name. A table that was voted relevant and in which nothing was found
shows all of its columns, in short: nobody knows which of them is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tasks.core.models.catalogue import ColumnProfile, Profile, TableProfile
from tasks.core.models.context import Context, TableContext, TableRelevanceResult
from tasks.core.models.metadata import ColumnInfo
from tasks.solve.compressing.fit import Shown
from tasks.solve.judging.rank import Ranking
from tasks.solve.showing.about import description
from tasks.solve.showing.layout import share, spelled

_RICH, _SHORT, _BARE = 0, 1, 2


@dataclass(frozen=True)
class Unfolded:
    """What is shown."""

    first: tuple[Shown, ...]
    """Tables in which something was found, and those drawn from documents."""
    others: tuple[Shown, ...]
    """Voted relevant, without a find."""
    linked: frozenset[tuple[str, str]]
    """(id of a foreign key, id of its target) that the columns say themselves."""


def unfold(profile: Profile, ranking: Ranking, context: Context, relevance: TableRelevanceResult) -> Unfolded:
    """Tables of the context, then the relevant ones that it lacks; best first."""
    tables = {table.name: table for table in profile.tables}
    told = {table.name: table for table in context.tables if table.name in tables}
    targets = {f"{t.name}.{c.name}": f"{spelled(t.name)}.{spelled(c.name)}" for t in profile.tables for c in t.columns}
    drawn = set(relevance.always_keep)
    relevant = {*relevance.relevant_tables} & tables.keys()
    first: list[Shown] = []
    others: list[Shown] = []
    for name, about in told.items():
        found = {column.name for column in about.columns if column.id not in context.keys}
        table = _told(tables[name], about, targets)
        if name in drawn:
            first.append(Shown(table, worth=ranking.columns[name]))
        elif found or name not in relevant:
            kept = frozenset(column.name for column in about.columns)
            first.append(Shown(table, kept or None, _RICH, ranking.columns[name]))
        else:
            others.append(Shown(table, None, _SHORT, ranking.columns[name]))
    left = [name for name in ranking.order if name in relevant and name not in told]
    first += [Shown(tables[name], worth=ranking.columns[name]) for name in left if name in drawn]
    least = _BARE if context.filtered else _SHORT
    others += [Shown(tables[name], None, least, ranking.columns[name]) for name in left if name not in drawn]
    return Unfolded(tuple(first), tuple(others), frozenset(_links(told)))


def detailed(shown: Unfolded, names: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Columns that are described, of each of the tables that were shown in the end."""
    return {
        one.table.name: tuple(c.name for c in one.table.columns if one.columns is None or c.name in one.columns)
        for one in (*shown.first, *shown.others)
        if one.table.name in names
    }


def _links(told: Mapping[str, TableContext]) -> Iterator[tuple[str, str]]:
    for table in told.values():
        yield from ((column.id, column.refers_to) for column in table.columns if column.refers_to)


def _told(table: TableProfile, about: TableContext, targets: Mapping[str, str]) -> TableProfile:
    """The profile with what the metadata says: of the table in its head, of a column before its values."""
    infos = {column.name: column for column in about.columns}
    columns = tuple(
        _column(column, infos[column.name], targets) if column.name in infos else column for column in table.columns
    )
    said = table.about or description(about.description, about.aliases)
    notes = (f"{about.role} table", *table.notes)
    return table.model_copy(update={"columns": columns, "about": said, "notes": notes})


def _column(column: ColumnProfile, info: ColumnInfo, targets: Mapping[str, str]) -> ColumnProfile:
    """Values that were found come first: the question names them."""
    new = tuple(value for value in info.examples if value not in column.examples)
    said = [_role(info, targets), column.meaning or description(info.description, info.aliases)]
    meaning = "; ".join(part for part in said if part)
    update = {"meaning": meaning, "unit": column.unit or info.unit, "examples": (*new, *column.examples)}
    return column.model_copy(update=update)


def _role(info: ColumnInfo, targets: Mapping[str, str]) -> str:
    if info.role == "foreign_key" and info.refers_to in targets:
        rate = f" ({share(info.match_rate)} match)" if info.match_rate is not None else ""
        return f"foreign key to {targets[info.refers_to]}{rate}"
    return {"primary_key": "primary key", "foreign_key": "foreign key", "measure": "measure", "dimension": ""}[
        info.role
    ]
