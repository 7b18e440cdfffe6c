"""A parsed query that fails + the tables → tables, columns and missing joins set right where only one reading is possible.

Small models take a column from the wrong alias or forget the table between two others, and repeat that when told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tasks.core.search.words import plain
from tasks.solve.mending.scopes import Schema, Source, columns_of, meant, selects, sources
from tasks.solve.mending.ways import Way, best_way

if TYPE_CHECKING:
    from sqlglot import exp


def mend_tables(tree: exp.Expr, schema: Schema) -> list[str]:
    """Give misspelt tables their names; the old name stays as alias, so that columns still find it."""
    from sqlglot import exp

    done = []
    ctes = {cte.alias.casefold() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if table.name.casefold() in ctes or schema.table(table.name) or not table.name:
            continue
        if meant := schema.near(table.name):
            done.append(f"table {table.name} is {meant.name}")
            table.replace(_table(meant.name, table.alias_or_name))
    return done


def mend_conditions(tree: exp.Expr, schema: Schema) -> list[str]:
    """Join by the measured links what is joined on a column that one side does not have."""
    from sqlglot import exp

    done: list[str] = []
    for select in selects(tree):
        for join in list(select.args.get("joins") or []):
            condition = join.args.get("on")
            if not isinstance(condition, exp.EQ):
                continue
            sides = (condition.this, condition.expression)
            if all(isinstance(side, exp.Column) and side.table for side in sides):
                done += _relink(join, select, sides, schema)
    return done


def mend_columns(tree: exp.Expr, schema: Schema) -> list[str]:
    """Set right each column that its source does not have, or that several sources have."""
    done: list[str] = []
    for select in selects(tree):
        for column in columns_of(select):
            if reason := _mend(column, select, schema):
                done.append(reason)
    return done


def _relink(join: exp.Join, select: exp.Select, sides: tuple[exp.Column, exp.Column], schema: Schema) -> list[str]:
    seen = sources(select, schema)
    at = (select.args.get("joins") or []).index(join)
    found = {source.alias.casefold(): source for source in seen if 0 <= source.position <= at + 1}
    ends = [found.get(side.table.casefold()) for side in sides]
    if not all(end and end.table for end in ends) or len({end.alias for end in ends if end}) < 2:
        return []
    if all(end and (end.exact(side.name) or end.near(side.name)) for end, side in zip(ends, sides, strict=True)):
        return []
    start, joined = sorted((end for end in ends if end), key=lambda end: end.position)
    way = best_way([start.table.name], {joined.table.name}, schema.joins) if start.table and joined.table else None
    if way is None or joined.position != at + 1:
        return []
    alias = start.alias
    steps = _conditions(way, alias, seen)
    for offset, (new, condition) in enumerate(steps[:-1]):
        _insert(select, at + offset, _table(*new), condition)
        alias = new[1]
    link = way.links[-1]
    join.set("on", _equal(alias, link.left_column, joined.alias, link.right_column))
    passed = f" through {', '.join(step.right_table for step in way.links[:-1])}" if len(way.links) > 1 else ""
    return [f"{start.alias} and {joined.alias} joined by the measured link{passed}"]


def _mend(column: exp.Column, select: exp.Select, schema: Schema) -> str:
    seen = sources(select, schema)
    own = [source for source in seen if source.position >= 0]
    if any(source.columns is None for source in own):
        return ""
    named = [source for source in seen if source.alias.casefold() == column.table.casefold()] if column.table else []
    if named:
        return "" if named[0].exact(column.name) else _wrong_source(column, select, seen, named[0], schema)
    if column.table:
        return _unknown_source(column, select, seen, schema)
    holders = [source for source in own if source.exact(column.name)]
    if len(holders) > 1 and not _is_output(column, select) and not _shared(column, select):
        return _take(column, holders[0], column.name, "is ambiguous: taken from")
    if holders or _is_output(column, select) or any(source.exact(column.name) for source in seen):
        return ""
    return _wrong_source(column, select, seen, None, schema)


def _unknown_source(column: exp.Column, select: exp.Select, seen: list[Source], schema: Schema) -> str:
    """The qualifier is no alias: a table that has another alias, one that is not joined, or nothing."""
    by_name = [source for source in seen if source.table and plain(source.table.name) == plain(column.table)]
    if by_name:
        name = by_name[0].exact(column.name) or by_name[0].near(column.name)
        return _take(column, by_name[0], name, "is in") if name else ""
    near = schema.near(column.table)
    candidates = {near.name} if near else {t.name for t in schema.tables.values() if _abbreviates(column.table, t.name)}
    owners = _owners(column, schema) & candidates - {source.table.name for source in seen if source.table}
    joined = _join(column, select, seen, schema, owners) if owners else ""
    return joined or _wrong_source(column, select, seen, None, schema)


def _wrong_source(
    column: exp.Column, select: exp.Select, seen: list[Source], named: Source | None, schema: Schema
) -> str:
    if named and (name := named.prefixed(column.name)):
        return _take(column, named, name, "is in")
    last, opposite = _last(column, select), _opposite(column, seen)
    own = [source for source in seen if 0 <= source.position <= last and source is not opposite]
    unknown = not any(plain(c.name) == plain(column.name) for t in schema.tables.values() for c in t.columns)
    for group in (own, [source for source in seen if source.position < 0]):
        for find in (Source.exact, Source.near, *([Source.prefixed] if unknown else ())):
            holders = [source for source in group if find(source, column.name)]
            if holders:
                return _take(column, holders[0], find(holders[0], column.name) or "", "is in")
    if not column.table and column.this.quoted:
        return _to_text(column)
    owners = _owners(column, schema) - {opposite.table.name if opposite and opposite.table else ""}
    return _join(column, select, seen, schema, owners)


def _owners(column: exp.Column, schema: Schema) -> set[str]:
    """Tables that have a column of this name, whatever its spelling; else those whose own name stands before it."""
    tables = schema.tables.values()
    same = {t.name for t in tables if any(plain(c.name) == plain(column.name) for c in t.columns)}
    return same or {t.name for t in tables if meant((c.name for c in t.columns), t.name, column.name)}


def _abbreviates(alias: str, table: str) -> bool:
    """Whether the alias is the start of the table's name, or the first letters of its words."""
    initials = "".join(part[0] for part in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", table) if part)
    return plain(table).startswith(plain(alias)) or plain(initials) == plain(alias)


def _join(column: exp.Column, select: exp.Select, seen: list[Source], schema: Schema, owners: set[str]) -> str:
    """Join the owner of the column that the measured links reach by one best way."""
    at = _position(column, select)
    starts = [source for source in seen if source.table and 0 <= source.position <= at]
    way = best_way([source.table.name for source in starts if source.table], owners, schema.joins)
    table = schema.table(way.end) if way else None
    if way is None or table is None or not meant((c.name for c in table.columns), table.name, column.name):
        return ""
    alias = next(source.alias for source in starts if source.table and source.table.name == way.start)
    for offset, (new, condition) in enumerate(_conditions(way, alias, seen)):
        _insert(select, at + offset, _table(*new), condition)
        alias = new[1]
    name = meant((c.name for c in table.columns), table.name, column.name) or ""
    before = column.sql("duckdb")
    column.replace(_column(alias, name))
    return f"{before} is in {table.name}: joined {' and '.join(link.right_table for link in way.links)}"


def _conditions(way: Way, alias: str, seen: list[Source]) -> list[tuple[tuple[str, str], exp.Expr]]:
    """For each link the table and alias to join, and on what."""
    taken = {source.alias.casefold() for source in seen}
    found: list[tuple[tuple[str, str], exp.Expr]] = []
    for link in way.links:
        new = link.right_table
        while new.casefold() in taken:
            new += "_2"
        taken.add(new.casefold())
        found.append(((link.right_table, new), _equal(alias, link.left_column, new, link.right_column)))
        alias = new
    return found


def _position(column: exp.Column, select: exp.Select) -> int:
    """Number of joins that stand before the column: all of them, unless it stands in the condition of one."""
    joins = select.args.get("joins") or []
    return next((i for i, join in enumerate(joins) if column.find_ancestor(type(join)) is join), len(joins))


def _last(column: exp.Column, select: exp.Select) -> int:
    """Position of the last source that the column may come from: in the condition of a join, the joined one."""
    joins = len(select.args.get("joins") or [])
    return min(_position(column, select) + 1, joins)


def _opposite(column: exp.Column, seen: list[Source]) -> Source | None:
    """The source of an equal column on the other side of a comparison, which would then compare with itself."""
    from sqlglot import exp

    parent = column.parent
    if not isinstance(parent, exp.Predicate) or not isinstance(parent, exp.Binary):
        return None
    other = parent.expression if parent.this is column else parent.this
    if not isinstance(other, exp.Column) or not plain(column.name).endswith(plain(other.name)):
        return None
    return next((source for source in seen if source.alias.casefold() == other.table.casefold()), None)


def _insert(select: exp.Select, at: int, table: exp.Expr, condition: exp.Expr) -> None:
    from sqlglot import exp

    joins = list(select.args.get("joins") or [])
    joins.insert(at, exp.Join(this=table, on=condition))
    select.set("joins", joins)


def _is_output(column: exp.Column, select: exp.Select) -> bool:
    """Whether the name is that of an output column, used outside the output list."""
    from sqlglot import exp

    names = {item.alias.casefold() for item in select.expressions if isinstance(item, exp.Alias)}
    return (
        column.name.casefold() in names
        and column.find_ancestor(exp.Order, exp.Group, exp.Having, exp.Qualify) is not None
    )


def _shared(column: exp.Column, select: exp.Select) -> bool:
    """Whether a USING makes one column of several."""
    used = [name for join in select.args.get("joins") or [] for name in join.args.get("using") or []]
    return any(name.name.casefold() == column.name.casefold() for name in used)


def _take(column: exp.Column, source: Source, name: str, how: str) -> str:
    before = column.sql("duckdb")
    column.replace(_column(source.alias, name))
    return f"{before} {how} {source.alias}" + (f" ({source.table.name})" if source.table else "")


def _to_text(column: exp.Column) -> str:
    from sqlglot import exp

    text = column.name
    column.replace(exp.Literal.string(text))
    return f'"{text}" is a text'


def _column(alias: str, name: str) -> exp.Column:
    from sqlglot import exp

    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias, quoted=True))


def _equal(one: str, column: str, other: str, opposite: str) -> exp.Expr:
    from sqlglot import exp

    return exp.EQ(this=_column(one, column), expression=_column(other, opposite))


def _table(name: str, alias: str) -> exp.Expr:
    from sqlglot import exp

    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    return table if alias == name else exp.alias_(table, exp.to_identifier(alias, quoted=True), table=True)
