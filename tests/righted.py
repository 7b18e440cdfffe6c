"""A right query with its schema → its tables and columns, and the whole query with one node exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from tasks.core.models.catalogue import ColumnProfile, TableProfile
from tasks.core.models.query import QueryResult
from tasks.solve.mending.scopes import Schema, columns_of, resolved

NUMERIC = ("INT", "BIGINT", "DOUBLE", "DECIMAL", "FLOAT", "HUGEINT", "SMALLINT", "TINYINT", "REAL")
Fix = tuple[str, str, str]
"""Key of a record, column and the value that a document first gave for it and later took back."""


class Right(NamedTuple):
    """A right query, its schema and its result."""

    tree: exp.Expr
    schema: Schema
    result: QueryResult
    corrections: tuple[Fix, ...] = ()


def tables_of(right: Right) -> list[tuple[exp.Select, exp.Table, TableProfile]]:
    found = []
    for select in right.tree.find_all(exp.Select, bfs=False):
        for table in select.find_all(exp.Table):
            profile = right.schema.table(table.name)
            if table.parent_select is select and profile:
                found.append((select, table, profile))
    return found


def own_columns(select: exp.Select, table: exp.Table, right: Right) -> list[exp.Column]:
    """Columns of the SELECT that are the table's."""
    name = table.alias_or_name.casefold()
    found = []
    for column in columns_of(select):
        place = resolved(column, right.schema)
        if column.table.casefold() == name or (
            not column.table and place and place[0].name.casefold() == table.name.casefold()
        ):
            found.append(column)
    return found


def replaced(right: Right, node: exp.Expr, new: exp.Expr) -> exp.Expr:
    """The whole query with one node exchanged; the right one stays as it is."""
    return exchanged(right, [(node, new)])


def exchanged(right: Right, pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    """The whole query with some nodes exchanged, none of them within another; the right one stays as it is."""
    mark = "planted"
    for at, (node, _) in enumerate(pairs):
        node.meta[mark] = at
    copy = right.tree.copy()
    for node, _ in pairs:
        del node.meta[mark]
    for found in [*copy.walk()]:
        at = found.meta.get(mark)
        if at is not None:
            if found is copy:
                return pairs[at][1]
            found.replace(pairs[at][1])
    return copy


def same_kind(one: ColumnProfile, other: ColumnProfile) -> bool:
    return one.type.startswith(NUMERIC) == other.type.startswith(NUMERIC) and (
        (one.type == "DATE") == (other.type == "DATE")
    )
