"""Catalogue + definitions → which definition each column takes: that of its table, or one that names no table.

A definition that names a table speaks of no other one. A name that the catalogue lacks may be another word for one of its
tables: it is that one which nothing else is said of and which has nearly all of the fields that are defined below that name.
Else its fields are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tasks.core.models.catalogue import Catalogue
from tasks.core.models.semantics import Definition
from tasks.core.search.words import plain
from tasks.solve.describing.names import table_names

_MOST, _LEAST = 0.8, 3
"""Share and number of the fields below a name that a table must have, to be what is named."""


def meanings(catalogue: Catalogue, definitions: Sequence[Definition]) -> dict[str, dict[str, Definition]]:
    """By table, its definitions by plain name of the field: its own first, then those of no table."""
    by_name: dict[str, list[Definition]] = {}
    for definition in definitions:
        by_name.setdefault(plain(definition.table), []).append(definition)
    free = by_name.pop("", [])
    names = {table.name: table_names(table) for table in catalogue.tables}
    own = {table: _in_order(by_name, names[table]) for table in names}
    absent = {name: group for name, group in by_name.items() if name not in frozenset().union(*names.values())}
    meant: dict[str, list[Definition]] = {}
    if absent:
        fields = {table.name: {plain(column.name) for column in table.columns} for table in catalogue.tables}
        silent = {table: its for table, its in fields.items() if not own[table]}
        for group in absent.values():
            for table in _having(silent, {plain(definition.field) for definition in group}):
                meant.setdefault(table, []).extend(group)
    return {table: _by_field([*own[table], *meant.get(table, ()), *free]) for table in names}


def _in_order(by_name: Mapping[str, Sequence[Definition]], names: Iterable[str]) -> list[Definition]:
    """Definitions below any of the names, by line."""
    return sorted((item for name in sorted(names) for item in by_name.get(name, ())), key=lambda item: item.line)


def _having(fields: Mapping[str, set[str]], wanted: set[str]) -> list[str]:
    """The tables that have the most of these fields, if that is most of them."""
    shares = {table: len(its & wanted) for table, its in fields.items()}
    most = max(shares.values(), default=0)
    return (
        [table for table, share in shares.items() if share == most] if most >= max(len(wanted) * _MOST, _LEAST) else []
    )


def _by_field(definitions: Iterable[Definition]) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for definition in definitions:
        found.setdefault(plain(definition.field), definition)
    return found
