"""A parsed query + the tables → which sources each of its SELECTs can see, and whose column a name is.

For repairs only; what a query may do is decided elsewhere, on DuckDB's own parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, Profile, TableProfile
from tasks.core.search.words import plain

if TYPE_CHECKING:
    from sqlglot import exp

_DEPTH = 12
"""Subqueries that a column is followed through."""


def meant(columns: Iterable[str], table: str, name: str) -> str | None:
    """The only column that differs from the name in case, spaces and signs alone, or in the table's name before it."""
    listed = list(columns)
    prefixed = {plain(table), _singular(plain(table))} if table else set()
    for forms in ({""}, prefixed):
        found = [column for column in listed if any(form + plain(column) == plain(name) for form in forms)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


@dataclass(frozen=True)
class Source:
    """One entry of a FROM clause."""

    alias: str
    """As columns are qualified with it."""
    table: TableProfile | None
    """None for a subquery or CTE."""
    columns: tuple[str, ...] | None
    """None when they are not known."""
    position: int
    """0 for FROM, n for the n-th JOIN; in the outer SELECTs of a subquery -1."""

    def exact(self, name: str) -> str | None:
        """The column of this name, whatever its case."""
        return next((column for column in self.columns or () if column.casefold() == name.casefold()), None)

    def near(self, name: str) -> str | None:
        """The only column that differs from the name in case, spaces and signs alone."""
        return meant(self.columns or (), "", name)

    def prefixed(self, name: str) -> str | None:
        """The only column that `meant` finds, also with the table's name before it."""
        return meant(self.columns or (), self.table.name if self.table else "", name)


class Schema:
    """The tables of a profile, looked up by name."""

    def __init__(self, profile: Profile) -> None:
        self.tables = {table.name.casefold(): table for table in profile.tables}
        self.joins: tuple[JoinCandidate, ...] = profile.joins

    def table(self, name: str) -> TableProfile | None:
        """The table of this name, whatever its case."""
        return self.tables.get(name.casefold())

    def near(self, name: str) -> TableProfile | None:
        """The only table that differs from the name in case, spaces, signs and a plural s alone."""
        wanted = plain(name)
        for same in (str, _singular):
            found = [table for table in self.tables.values() if same(plain(table.name)) == same(wanted)]
            if len(found) == 1:
                return found[0]
        return None


def selects(tree: exp.Expr) -> Iterator[exp.Select]:
    """Every SELECT of the query, inner ones last."""
    from sqlglot import exp

    yield from tree.find_all(exp.Select)


def columns_of(select: exp.Select) -> list[exp.Column]:
    """The column references that belong to this SELECT and not to one inside it."""
    from sqlglot import exp

    found = select.find_all(exp.Column)
    return [column for column in found if column.parent_select is select and not isinstance(column.this, exp.Star)]


def sources(select: exp.Select, schema: Schema) -> list[Source]:
    """What this SELECT reads, in order, and then what the SELECTs around it read."""
    found = _own(select, schema)
    outer = select.parent_select
    while outer is not None:
        found += [Source(s.alias, s.table, s.columns, -1) for s in _own(outer, schema)]
        outer = outer.parent_select
    return found


def column_type(column: exp.Column, schema: Schema) -> str:
    """DuckDB's type of a column of a table; empty when it is not known."""
    profile = column_profile(column, schema)
    return profile[1].type if profile else ""


def column_profile(column: exp.Column, schema: Schema) -> tuple[TableProfile, ColumnProfile] | None:
    """The table and profile of a column that names exactly one; None otherwise."""
    select = column.parent_select
    if select is None:
        return None
    hits = [
        (source.table, profile)
        for source in sources(select, schema)
        if source.table and (not column.table or source.alias.casefold() == column.table.casefold())
        for profile in source.table.columns
        if profile.name.casefold() == column.name.casefold()
    ]
    return hits[0] if len(hits) == 1 else None


def resolved(column: exp.Column, schema: Schema) -> tuple[TableProfile, ColumnProfile] | None:
    """The table and profile of a column, also where subqueries and CTEs hand it on unchanged; None when not exactly one."""
    select = column.parent_select
    return _lookup(column.name, column.table, select, schema, _DEPTH) if select else None


def _lookup(
    name: str, alias: str, select: exp.Select | None, schema: Schema, left: int
) -> tuple[TableProfile, ColumnProfile] | None:
    while select is not None and left:
        hits: list[tuple[TableProfile, ColumnProfile] | None] = []
        for entry in _entries(select):
            if not alias or entry.alias_or_name.casefold() == alias.casefold():
                hits += _handed(entry, name, select, schema, left - 1)
        if hits:
            return hits[0] if len(hits) == 1 else None
        select = select.parent_select
    return None


def _handed(
    entry: exp.Expr, name: str, select: exp.Select, schema: Schema, left: int
) -> list[tuple[TableProfile, ColumnProfile] | None]:
    """What an entry of FROM has under this name; None for something that is computed."""
    from sqlglot import exp

    held = _cte(entry.name, select) if isinstance(entry, exp.Table) else entry
    if held is None:
        table = schema.table(entry.name)
        return [(table, c) for c in table.columns if c.name.casefold() == name.casefold()] if table else []
    inner = held.this
    if not isinstance(inner, exp.Select) or (held.args.get("alias") and held.args["alias"].args.get("columns")):
        return []
    found: list[tuple[TableProfile, ColumnProfile] | None] = []
    for item in inner.expressions:
        if item.is_star:
            found += [hit for hit in [_lookup(name, "", inner, schema, left)] if hit]
        elif item.alias_or_name.casefold() == name.casefold():
            bare = item.unalias()
            found.append(_lookup(bare.name, bare.table, inner, schema, left) if isinstance(bare, exp.Column) else None)
    return found


def _entries(select: exp.Select) -> list[exp.Expr]:
    first = select.args.get("from_")
    return [*([first.this] if first else []), *(join.this for join in select.args.get("joins") or [])]


def _own(select: exp.Select, schema: Schema) -> list[Source]:
    return [_source(entry, position, select, schema) for position, entry in enumerate(_entries(select))]


def _source(entry: exp.Expr, position: int, select: exp.Select, schema: Schema) -> Source:
    from sqlglot import exp

    alias = entry.alias_or_name
    if isinstance(entry, exp.Table):
        inner = _cte(entry.name, select)
        if inner is None:
            table = schema.table(entry.name)
            return Source(alias, table, tuple(c.name for c in table.columns) if table else None, position)
        return Source(alias, None, _given(inner), position)
    return Source(alias, None, _given(entry), position)


def _cte(name: str, select: exp.Select) -> exp.Expr | None:
    from sqlglot import exp

    node: exp.Expr | None = select
    while node is not None:
        for cte in node.ctes if isinstance(node, exp.Query) else ():
            if cte.alias.casefold() == name.casefold():
                return cte
        node = node.parent
    return None


def _given(entry: exp.Expr) -> tuple[str, ...] | None:
    """The output columns of a subquery; None when a star hides them."""
    from sqlglot import exp

    query = entry.this
    if not isinstance(query, exp.Query) or query.is_star:
        return None
    return tuple(query.named_selects)


def _singular(text: str) -> str:
    return text.removesuffix("s")
