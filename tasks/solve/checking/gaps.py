"""conditions on empty values, and values that a column does not hold → what the query drops or looks for in vain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.core.sql.names import quote
from tasks.solve.checking import asked
from tasks.solve.checking.facts import Facts
from tasks.solve.checking.measuring import Measuring, whole
from tasks.solve.checking.nearby import nearest

if TYPE_CHECKING:
    from sqlglot import exp

EMPTY = re.compile(
    r"(?i)\b(?:null|missing|empty|known|given|available|recorded|blank|have an?|has an?|with an?)\b|空|缺失|为空|有值|已填|非空"
)
_LOOKED_IN = 60
"""Columns of text that a value is looked for in."""


async def dropped(facts: Facts, counts: Measuring) -> Check | None:
    """Rows with an empty value are left out only where the question says so, or nothing could be computed from them."""
    from sqlglot import exp

    if EMPTY.search(facts.question) or facts.contract.nulls:
        return None
    for node in facts.tree.find_all(exp.Not):
        inner = node.this
        select = node.parent_select
        if (
            not isinstance(inner, exp.Is)
            or not isinstance(inner.expression, exp.Null)
            or not isinstance(select, exp.Select)
        ):
            continue
        if not isinstance(inner.this, exp.Column) or not _in_where(node) or _is_needed(inner.this, select):
            continue
        without = select.copy()
        for found in without.find_all(exp.Not):
            if found == node:
                found.replace(exp.true())
                break
        column = inner.this.sql("duckdb")
        row = await counts.row(counts.over(without, [f"count_if({column} IS NULL)"]))
        if row and whole(row[0]):
            detail = f"{row[0]} rows without {inner.this.name} are left out, and the question does not say so"
            return Check(name="empty values", outcome="failed", detail=detail)
    return None


def _in_where(node: exp.Expr) -> bool:
    from sqlglot import exp

    above = node.find_ancestor(exp.Where, exp.Select)
    return isinstance(above, exp.Where) and not node.find_ancestor(exp.Or, exp.In, exp.Exists)


def _is_needed(column: exp.Column, select: exp.Select) -> bool:
    """The value is computed with, grouped by, sorted by or made different by: the empty one would be no answer."""
    from sqlglot import exp

    listed = select.selects if select.args.get("distinct") else []
    parts = [*listed, select.args.get("group"), select.args.get("order"), *select.find_all(exp.AggFunc, exp.Binary)]
    return any(
        found is not column and found.name.casefold() == column.name.casefold()
        for part in parts
        if part is not None and not isinstance(part, exp.And | exp.Or | exp.Is)
        for found in part.find_all(exp.Column)
    )


async def unknown(facts: Facts, counts: Measuring) -> Check | None:
    """A condition for what is not something also leaves out the rows of which nobody knows what they are; how many is said."""
    from sqlglot import exp

    if EMPTY.search(facts.question):
        return None
    for select, condition in _conditions(facts.tree):
        column = _denied(condition)
        place = facts.place(column) if column is not None else None
        if column is None or place is None or not place[1].null_share:
            continue
        without = select.copy()
        for found in without.args["where"].find_all(type(condition)):
            if found == condition:
                found.replace(exp.true())
                break
        row = await counts.row(counts.over(without, [f"count_if({column.sql('duckdb')} IS NULL)"]))
        if row and whole(row[0]):
            rows = "1 row" if whole(row[0]) == 1 else f"{row[0]} rows"
            detail = f"{condition.sql('duckdb')[:100]} also leaves out {rows} in which {place[1].name} is empty"
            return Check(name="empty values", outcome="noted", detail=detail)
    return None


def _conditions(tree: exp.Expr) -> Iterator[tuple[exp.Select, exp.Expr]]:
    """Each SELECT with each of the conditions that all of its rows meet."""
    from sqlglot import exp

    for select in tree.find_all(exp.Select):
        where = select.args.get("where")
        if where:
            every = where.this
            parts = every.flatten(unnest=False) if isinstance(every, exp.And) else [every]
            yield from ((select, part) for part in parts)


def _denied(condition: exp.Expr) -> exp.Column | None:
    """The one column that must not be, or not be like, something that is written down or listed by a query."""
    from sqlglot import exp

    if isinstance(condition, exp.NEQ):
        left, right = condition.this, condition.expression
        subject, other = (right, left) if isinstance(left, exp.Literal) else (left, right)
        if not isinstance(other, exp.Literal) or not other.name.strip():
            return None
    elif isinstance(condition, exp.Not) and isinstance(condition.this, exp.In | exp.Like | exp.ILike | exp.EQ):
        subject = condition.this.this
    elif isinstance(condition, exp.Like | exp.ILike) and condition.args.get("negate"):
        subject = condition.this
    else:
        return None
    columns = [*subject.find_all(exp.Column)]
    return columns[0] if len(columns) == 1 and not subject.find(exp.Coalesce, exp.Case) else None


async def uncounted(facts: Facts, counts: Measuring) -> Check | None:
    """A count of a column that is empty in places counts fewer than there are."""
    from sqlglot import exp

    said = asked.stems(facts.question)
    for node in facts.tree.find_all(exp.Count):
        place = facts.place(node.this) if isinstance(node.this, exp.Column) else None
        select = node.parent_select
        if place is None or not place[1].null_share or not isinstance(select, exp.Select):
            continue
        kept = any(str(join.args.get("side") or "") for join in select.args.get("joins") or [])
        if kept or asked.overlap((place[1].name, place[1].meaning), said) > 0:
            continue
        row = await counts.row(counts.over(select, [f"count_if({node.this.sql('duckdb')} IS NULL)"]))
        if row and whole(row[0]):
            detail = f"{node.sql('duckdb')} does not count {row[0]} rows in which {place[1].name} is empty"
            return Check(name="empty values", outcome="failed", detail=detail)
    return None


async def null_trap(facts: Facts, counts: Measuring) -> Check | None:
    """NOT IN over a list with an empty value lets no row through."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Not):
        listed = node.this.args.get("query") if isinstance(node.this, exp.In) else None
        inner = listed.this if isinstance(listed, exp.Subquery) else listed
        if not isinstance(inner, exp.Select) or len(inner.selects) != 1:
            continue
        row = await counts.row(f"SELECT count(*) FROM ({inner.sql('duckdb')}) AS l(v) WHERE v IS NULL")
        if row and whole(row[0]):
            return Check(
                name="empty values", outcome="failed", detail="NOT IN over a list with empty values lets no row through"
            )
    return None


async def elsewhere(facts: Facts, counts: Measuring) -> Check | None:
    """A text that is looked for occurs in its column; where it does not, another column may be the one that is meant."""
    for one in facts.comparisons:
        if not one.text or one.sign not in ("=", "<>") or one.place is None:
            continue
        if one.place[1].type != "VARCHAR":
            continue
        value = "'" + one.value.replace("'", "''") + "'"
        table, column = quote(one.place[0].name), quote(one.place[1].name)
        row = await counts.row(f"SELECT count(*) FROM {table} WHERE lower({column}) = lower({value})")
        if row is None or whole(row[0]):
            continue
        among = facts.profile.tables if one.sign == "=" else facts.tables
        places = [(t.name, c.name) for t in among for c in t.columns if c.type == "VARCHAR"][:_LOOKED_IN]
        tests = [f"EXISTS (SELECT 1 FROM {quote(t)} WHERE {quote(c)} = {value})" for t, c in places]
        found = await counts.row("SELECT " + ", ".join(tests)) if tests else None
        held = [f"{t}.{c}" for (t, c), there in zip(places, found or (), strict=False) if there]
        detail = f"no {one.name} is {one.value!r}"
        near = await nearest(one.value, one.place, counts) if held or one.sign == "=" else ""
        if held:
            return Check(name="value", outcome="failed", detail=f"{detail}; {held[0]} has that value{near}")
        if one.sign == "=":
            return Check(name="value", outcome="noted", detail=detail + near)
    return None


async def unlike(facts: Facts, counts: Measuring) -> Check | None:
    """A pattern that texts are held against meets some of its column; where it meets none, the nearest values are named."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Like, exp.ILike, exp.RegexpLike, exp.StartsWith, exp.EndsWith, exp.Contains):
        pattern, columns = node.expression, list(node.this.find_all(exp.Column))
        place = facts.place(columns[0]) if len(columns) == 1 else None
        denied = node.args.get("negate") or isinstance(node.find_ancestor(exp.Not, exp.Select, exp.Case), exp.Not)
        if place is None or place[1].type != "VARCHAR" or denied or not isinstance(pattern, exp.Literal):
            continue
        copy = node.copy()
        for column in copy.find_all(exp.Column):
            column.replace(exp.column(place[1].name, quoted=True))
        row = await counts.row(f"SELECT count(*) FROM {quote(place[0].name)} WHERE {copy.sql('duckdb')}")
        if row is None or whole(row[0]):
            continue
        text = re.sub(r"[%_^$*.()\[\]|?\\]+", " ", pattern.name).strip()
        near = await nearest(text, place, counts)
        return Check(name="value", outcome="noted", detail=f"no {place[1].name} is like {pattern.name!r}{near}")
    return None
