"""A right query → the same query with one fault planted, on the schema that it runs on.

Every kind makes faults that a solver makes; which of them change the result is for the caller to find out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from righted import NUMERIC, Right, exchanged, own_columns, replaced, same_kind, tables_of
from sqlglot import exp

from tasks.core.models.catalogue import JoinCandidate, TableProfile
from tasks.solve.mending.scopes import resolved

_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)")
_SIGNS = {exp.LT: exp.LTE, exp.LTE: exp.LT, exp.GT: exp.GTE, exp.GTE: exp.GT}


def similar_table(right: Right) -> Iterator[exp.Expr]:
    """Another table that has the columns too, or ones of like names and the same kinds."""
    used = {profile.name for _, _, profile in tables_of(right)}
    for select, table, profile in tables_of(right):
        columns = own_columns(select, table, right)
        for other in right.schema.tables.values():
            names = _counterparts(columns, profile, other) if other.name not in used else {}
            if not names:
                continue
            changed = table.copy()
            changed.set("this", exp.to_identifier(other.name, quoted=True))
            changed.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True)))
            renamed = [(column, column.copy()) for column in columns]
            for column, new in renamed:
                name = names.get(column.name.casefold(), column.name)
                if name.casefold() != column.name.casefold():
                    new.set("this", exp.to_identifier(name, quoted=True))
            yield exchanged(right, [(table, changed), *renamed])


def _counterparts(columns: list[exp.Column], profile: TableProfile, other: TableProfile) -> dict[str, str]:
    """By name, the column of another table that a solver may take for it; empty where one of them has none."""
    known = {column.name.casefold(): column for column in profile.columns}
    found = {}
    for name in {column.name.casefold() for column in columns} & known.keys():
        fits = [c for c in other.columns if same_kind(c, known[name]) and _alike(c.name, name)]
        if not fits:
            return {}
        found[name] = max(fits, key=lambda c: (c.name.casefold() == name, _alike(c.name, name))).name
    return found


def similar_column(right: Right) -> Iterator[exp.Expr]:
    """Another column of the same table and kind, the one of the nearest name first."""
    for select, table, profile in tables_of(right):
        for column in own_columns(select, table, right):
            if column.find_ancestor(exp.Join) or (column.parent and isinstance(column.parent, exp.EQ)):
                continue
            own = next((c for c in profile.columns if c.name.casefold() == column.name.casefold()), None)
            if own is None or own.is_key:
                continue
            others = [c for c in profile.columns if c.name != own.name and same_kind(c, own) and not c.is_key]
            others.sort(key=lambda other: -_alike(own.name, other.name))
            for other in others[:1]:
                changed = column.copy()
                changed.set("this", exp.to_identifier(other.name, quoted=True))
                yield replaced(right, column, changed)


def _alike(one: str, other: str) -> int:
    parts = [set(re.findall(r"[^\W_]+", name.casefold())) for name in (one, other)]
    return len(parts[0] & parts[1])


def join_key(right: Right) -> Iterator[exp.Expr]:
    """One side of a join's equality is another column of its table."""
    for join in right.tree.find_all(exp.Join):
        on = join.args.get("on")
        for equal in list(on.find_all(exp.EQ)) if on else []:
            for side in (equal.this, equal.expression):
                place = resolved(side, right.schema) if isinstance(side, exp.Column) else None
                if place is None:
                    continue
                others = [c for c in place[0].columns if c.name != place[1].name and same_kind(c, place[1])]
                others.sort(key=lambda other: -_alike(other.name, f"{side.name} id code"))
                for other in others[:2]:
                    changed = side.copy()
                    changed.set("this", exp.to_identifier(other.name, quoted=True))
                    yield replaced(right, side, changed)


def _joined(right: Right, kind: str) -> Iterator[tuple[exp.Expr, JoinCandidate]]:
    """The query with one more table that its tables are linked with."""
    used = {profile.name for _, _, profile in tables_of(right)}
    for select, table, profile in tables_of(right):
        for link in right.schema.joins:
            for here, key, there, other in (
                (link.left_table, link.left_column, link.right_table, link.right_column),
                (link.right_table, link.right_column, link.left_table, link.left_column),
            ):
                if here != profile.name or there in used:
                    continue
                if kind == "subset" and here != link.right_table:
                    continue
                name = table.alias_or_name
                condition = exp.EQ(
                    this=exp.column(other, "extra", quoted=True), expression=exp.column(key, name, quoted=True)
                )
                changed = select.copy().join(
                    exp.alias_(exp.to_table(f'"{there}"'), "extra", table=True), on=condition, join_type="inner"
                )
                for column in changed.find_all(exp.Column):
                    if column.parent_select is changed and not column.table and not isinstance(column.this, exp.Star):
                        column.set("table", exp.to_identifier(name, quoted=True))
                yield replaced(right, select, changed), link


def fan_out(right: Right) -> Iterator[exp.Expr]:
    """One more table, many rows of which belong to one."""
    for tree, link in _joined(right, "subset"):
        if not link.left_unique:
            yield tree


def lost_rows(right: Right) -> Iterator[exp.Expr]:
    """An inner join in place of one that keeps all; one more table where some find no partner."""
    for join in right.tree.find_all(exp.Join):
        if str(join.args.get("side")).upper() == "LEFT":
            changed = join.copy()
            changed.set("side", None)
            yield replaced(right, join, changed)
    for tree, link in _joined(right, "any"):
        if link.right_unique and link.match_rate < 1:
            yield tree


def subset(right: Right) -> Iterator[exp.Expr]:
    """Only those rows that occur in another table too."""
    used = {profile.name for _, _, profile in tables_of(right)}
    for select, table, profile in tables_of(right):
        for link in right.schema.joins:
            if link.right_table != profile.name or link.left_table in used:
                continue
            inner = exp.select(exp.column(link.left_column, quoted=True)).from_(exp.to_table(f'"{link.left_table}"'))
            key = exp.column(link.right_column, table.alias_or_name, quoted=True)
            yield replaced(right, select, select.copy().where(exp.In(this=key, query=exp.Subquery(this=inner))))


def _numbers(right: Right) -> Iterator[exp.Literal]:
    for node in right.tree.find_all(exp.Literal):
        if not node.is_string and isinstance(node.parent, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.Between | exp.Neg):
            yield node


def percent(right: Right) -> Iterator[exp.Expr]:
    """A threshold a hundred times too large or too small."""
    for node in _numbers(right):
        value = float(node.name)
        for scaled in (value * 100, value / 100):
            yield replaced(right, node, exp.Literal.number(f"{scaled:.10g}"))


def year_bound(right: Right) -> Iterator[exp.Expr]:
    """Another year than asked for, or one where none was."""
    for node in right.tree.find_all(exp.Literal):
        if found := _YEAR.match(node.name):
            text = str(int(found.group(1)) - 1) + node.name[4:]
            yield replaced(right, node, exp.Literal.string(text) if node.is_string else exp.Literal.number(text))
    for select, table, profile in tables_of(right):
        for column in profile.columns:
            named = "year" in column.name.casefold() and column.type.startswith(NUMERIC)
            if not (named or column.type in ("DATE", "TIMESTAMP")) or not column.examples:
                continue
            if named and not _YEAR.match(column.examples[0]):
                continue
            year = _YEAR.search(column.examples[0])
            if year is None:
                continue
            bound = exp.Literal.number(year.group(1)) if named else exp.Literal.string(f"{year.group(1)}-01-01")
            condition = exp.GTE(this=exp.column(column.name, table.alias_or_name, quoted=True), expression=bound)
            yield replaced(right, select, select.copy().where(condition))


def strict(right: Right) -> Iterator[exp.Expr]:
    """`<` for `<=` and the like."""
    for node in right.tree.find_all(*_SIGNS):
        changed = _SIGNS[type(node)](this=node.this.copy(), expression=node.expression.copy())
        yield replaced(right, node, changed)


def no_distinct(right: Right) -> Iterator[exp.Expr]:
    """A DISTINCT left out, also that of a set operation."""
    for node in right.tree.find_all(exp.Select, exp.SetOperation, exp.Count):
        changed = node.copy()
        if isinstance(node, exp.Select) and node.args.get("distinct"):
            changed.set("distinct", None)
        elif isinstance(node, exp.Union) and node.args.get("distinct"):
            changed.set("distinct", False)
        elif isinstance(node, exp.Intersect):
            changed = _semi(node)
        elif isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
            changed.set("this", node.this.expressions[0].copy())
        else:
            continue
        yield replaced(right, node, changed)


def _semi(node: exp.Intersect) -> exp.Expr:
    """`a INTERSECT b` as a condition of a, which keeps a's repetitions."""
    first, second = node.this, node.expression
    if not isinstance(first, exp.Select) or first.args.get("group"):
        return node.copy()
    item = first.selects[0].unalias()
    return first.copy().where(exp.In(this=item.copy(), query=exp.Subquery(this=_one(second))))


def _one(query: exp.Expr) -> exp.Expr:
    copy = query.copy()
    if isinstance(copy, exp.Select):
        copy.set("expressions", copy.expressions[:1])
    return copy


def extra_distinct(right: Right) -> Iterator[exp.Expr]:
    """A DISTINCT that nobody asked for."""
    tree = right.tree
    if isinstance(tree, exp.Select) and not tree.args.get("distinct"):
        yield tree.copy().distinct()
    for node in right.tree.find_all(exp.Sum, exp.Avg, exp.Count):
        inner = node.this
        if isinstance(inner, exp.Column) and not isinstance(inner.this, exp.Star):
            changed = node.copy()
            changed.set("this", exp.Distinct(expressions=[inner.copy()]))
            yield replaced(right, node, changed)


def tie_cut(right: Right) -> Iterator[exp.Expr]:
    """One of several rows that deserve it."""
    for node in right.tree.find_all(exp.EQ):
        inner = node.expression.this if isinstance(node.expression, exp.Subquery) else None
        extreme = inner.find(exp.Max, exp.Min) if inner else None
        select = node.parent_select
        if extreme is None or select is None or not isinstance(node.this, exp.Column):
            continue
        rest = replaced(right, node, exp.true())
        for found in rest.find_all(exp.Select):
            if found.sql() == select.copy().sql().replace(node.sql(), "TRUE"):
                found.order_by(exp.Ordered(this=node.this.copy(), desc=isinstance(extreme, exp.Max)), copy=False)
                found.limit(1, copy=False)
                yield rest
                break
    if right.result.row_count > 1:
        cut = right.tree.copy()
        if isinstance(cut, exp.Query):
            yield cut.limit(1)


def nulls_dropped(right: Right) -> Iterator[exp.Expr]:
    """Rows or values that are empty left out."""
    tree = right.tree
    if isinstance(tree, exp.Select):
        for item in tree.selects:
            column = item.unalias()
            if isinstance(column, exp.Column) and not isinstance(column.this, exp.Star):
                yield tree.copy().where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.null())))
    for select, table, profile in tables_of(right):
        for column in profile.columns:
            if not column.null_share:
                continue
            named = exp.column(column.name, table.alias_or_name, quoted=True)
            for count in select.find_all(exp.Count):
                if count.parent_select is select:
                    yield replaced(right, count, exp.Count(this=named.copy()))
            condition = exp.Not(this=exp.Is(this=named.copy(), expression=exp.null()))
            yield replaced(right, select, select.copy().where(condition))


def stale(right: Right) -> Iterator[exp.Expr]:
    """A cell as the document first had it, before its correction."""
    keys = {table.name: [c for c in table.columns if c.is_key] for table in right.schema.tables.values()}
    for select, table, profile in tables_of(right):
        for column in own_columns(select, table, right):
            own = next((c for c in profile.columns if c.name.casefold() == column.name.casefold()), None)
            if own is None or own.is_key or not keys[profile.name]:
                continue
            key = keys[profile.name][0]
            told = [fix for fix in right.corrections if fix[1].casefold() == own.name.casefold()]
            for record, _, value in told:
                old = exp.Literal.number(value) if own.type.startswith(NUMERIC) else exp.Literal.string(value)
                case = exp.Case(
                    ifs=[
                        exp.If(
                            this=exp.EQ(
                                this=exp.cast(exp.column(key.name, table.alias_or_name, quoted=True), "VARCHAR"),
                                expression=exp.Literal.string(record),
                            ),
                            true=old,
                        )
                    ],
                    default=column.copy(),
                )
                yield replaced(right, column, case)


def wrong_measure(right: Right) -> Iterator[exp.Expr]:
    """The sum for the average, the largest for the smallest, and the other way round."""
    turned: dict[type[exp.Expr], Any] = {exp.Sum: exp.Avg, exp.Avg: exp.Sum, exp.Max: exp.Min, exp.Min: exp.Max}
    for node in right.tree.find_all(*turned):
        yield replaced(right, node, turned[type(node)](this=node.this.copy()))
    for count in right.tree.find_all(exp.Count):
        select = count.parent_select
        numbers = [
            exp.column(c.name, table.alias_or_name, quoted=True)
            for inside, table, profile in tables_of(right)
            if inside is select
            for c in profile.columns
            if c.type.startswith(NUMERIC) and not c.is_key
        ]
        for number in numbers[:1]:
            yield replaced(right, count, exp.Sum(this=number))
    for ordered in right.tree.find_all(exp.Ordered):
        changed = ordered.copy()
        changed.set("desc", not ordered.args.get("desc"))
        changed.set("nulls_first", None)
        yield replaced(right, ordered, changed)


def typed(right: Right) -> Iterator[exp.Expr]:
    """A value written by hand where data was asked."""
    for node in right.tree.find_all(exp.Subquery):
        inner = node.this
        aggregate = inner.find(exp.Max, exp.Min, exp.Avg) if isinstance(inner, exp.Select) else None
        place = resolved(aggregate.this, right.schema) if aggregate and isinstance(aggregate.this, exp.Column) else None
        if place and isinstance(node.parent, exp.Binary):
            for example in place[1].examples[:2]:
                if re.fullmatch(r"-?\d+(\.\d+)?", example):
                    yield replaced(right, node, exp.Literal.number(example))
    for node in right.tree.find_all(exp.EQ):
        place = resolved(node.this, right.schema) if isinstance(node.this, exp.Column) else None
        if place and isinstance(node.expression, exp.Literal):
            key = next((c for c in place[0].columns if c.is_key and c.name != place[1].name and c.examples), None)
            for example in key.examples[:1] if key else ():
                number = key is not None and key.type.startswith(NUMERIC)
                value = exp.Literal.number(example) if number else exp.Literal.string(example)
                name = exp.column(key.name if key else "", node.this.table or None, quoted=True)
                yield replaced(right, node, exp.EQ(this=name, expression=value))
    if isinstance(right.tree, exp.Select) and right.result.row_count == 1:
        for at, item in enumerate(right.tree.selects):
            cell = right.result.rows[0][at]
            if isinstance(cell, int | float) and not isinstance(cell, bool) and item.find(exp.AggFunc):
                near = exp.Literal.number(f"{cell * 1.03 + 1:.6g}")
                yield replaced(right, item, exp.alias_(near, item.alias_or_name or "value", quoted=True))


Plant = Callable[[Right], Iterator[exp.Expr]]
KINDS: dict[str, Plant] = {
    "similar table": similar_table,
    "similar column": similar_column,
    "wrong join key": join_key,
    "fan-out": fan_out,
    "lost rows": lost_rows,
    "percent for ratio": percent,
    "year bound": year_bound,
    "< for <=": strict,
    "no DISTINCT": no_distinct,
    "extra DISTINCT": extra_distinct,
    "tie cut to one": tie_cut,
    "NULLs dropped": nulls_dropped,
    "subset as population": subset,
    "correction ignored": stale,
    "sum for average": wrong_measure,
    "value typed by hand": typed,
}
