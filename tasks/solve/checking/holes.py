"""empty values under functions, sums and orders of the query → how many rows they silently leave out, counted on the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.solve.checking.facts import Facts, Place
from tasks.solve.checking.measuring import Measuring, whole

if TYPE_CHECKING:
    from sqlglot import exp

NAME = "empty share"
_SHOWN = 3
"""Measures that are named."""
_MEANS_NOTHING = re.compile(
    r"(?i)\b(?:empty|null|blank|missing)\b[^.;\n]{0,40}?(?:=|\bmeans?\b|\bcounts? as\b|\bstands? for\b|\btreated as\b|\bis\b|\bas\b)"
    r"\s*(?:an? )?(?:0|zero|none|no|nothing)\b"
    r"|(?:空|缺失|null)[^。；;\n]{0,12}?(?:=|为|表示|视为|视同|按|计为|当作|代表|即|算)\s*(?:0|零|没有|无)"
)


async def lossy(facts: Facts, counts: Measuring) -> Check | None:
    """No row falls out of a sum or an average because one part of its calculation is empty.

    It is wrong where the knowledge says that an empty value of that column counts as none.
    """
    for node, select in _measures(facts):
        columns = list(_bare(node))
        if len({column.sql() for column in columns}) < 2:
            continue
        value, tests = node.this.sql("duckdb"), [f"{column.sql('duckdb')} IS NOT NULL" for column in columns]
        outputs = [f"count_if(({value}) IS NULL AND ({' OR '.join(tests)}))"]
        outputs += [f"count_if({column.sql('duckdb')} IS NULL)" for column in columns]
        row = await counts.row(counts.over(select, outputs))
        lost = whole(row[0]) if row else 0
        empty = [column for column, count in zip(columns, (row or (0,))[1:], strict=False) if count]
        if not lost or not empty:
            continue
        detail = f"{node.sql('duckdb')} leaves out {lost} rows in which {empty[0].name} is empty"
        told = any(_means_nothing(facts, column) for column in empty)
        detail += ", which the knowledge says means none" if told else ""
        return Check(name=NAME, outcome="failed" if told else "noted", detail=detail)
    return None


async def thin(facts: Facts, counts: Measuring) -> Check | None:
    """A measure rests on all of the rows that it is taken over; where some have no value, how many is said."""
    from sqlglot import exp

    said: dict[str, None] = {}
    for node, select in _measures(facts, exp.Min, exp.Max):
        columns = {column.sql("duckdb"): column for column in _bare(node)}
        if len(columns) != 1 or not isinstance(node.this, exp.Expr):
            continue
        place = facts.place(next(iter(columns.values())))
        if place is None or not _has_gaps(place):
            continue
        row = await counts.row(counts.over(select, ["count(*)", f"count_if(({node.this.sql('duckdb')}) IS NULL)"]))
        rows, empty = (whole(row[0]), whole(row[1])) if row else (0, 0)
        if empty:
            have = "1 has" if empty == 1 else f"{empty} have"
            said[f"{node.sql('duckdb')} is over {rows - empty} of {rows} rows; {have} no {place[1].name}"] = None
    return Check(name=NAME, outcome="noted", detail="; ".join(list(said)[:_SHOWN])) if said else None


def _has_gaps(place: Place) -> bool:
    """Whether values are empty, or texts of it are none: blanks, marks, and what its form does not read."""
    form = place[1].form
    return bool(place[1].null_share or (form and (form.others or form.read < form.values)))


async def first_empty(facts: Facts, counts: Measuring) -> Check | None:
    """Rows without a value are not the first of an order that a limit cuts."""
    from sqlglot import exp

    for select in facts.tree.find_all(exp.Select):
        order = select.args.get("order")
        first = order.expressions[0] if order and select.args.get("limit") else None
        if first is None or not first.args.get("nulls_first") or not isinstance(first.this, exp.Column):
            continue
        place = facts.place(first.this)
        if place is None or not place[1].null_share:
            continue
        row = await counts.row(counts.over(select, [f"count_if({first.this.sql('duckdb')} IS NULL)"]))
        if row and whole(row[0]):
            detail = f"the first rows are {row[0]} in which {place[1].name} is empty, since the query puts these first"
            return Check(name=NAME, outcome="failed", detail=detail)
    return None


def _measures(facts: Facts, *more: type[exp.Expr]) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Sums, averages and functions of these kinds, with the SELECT over whose rows they go."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Sum, exp.Avg, *more):
        select = node.parent_select
        if isinstance(select, exp.Select) and not isinstance(node.parent, exp.Window | exp.Filter):
            yield node, select


def _bare(node: exp.Expr) -> Iterator[exp.Column]:
    """Columns whose empty value makes the whole value empty: not inside COALESCE, CASE and the like."""
    from sqlglot import exp

    for column in node.find_all(exp.Column):
        if not column.find_ancestor(exp.Coalesce, exp.Case, exp.If, exp.Nullif, exp.Is, exp.Distinct):
            yield column


def _means_nothing(facts: Facts, column: exp.Column) -> bool:
    place: Place | None = facts.place(column)
    said = [place[1].meaning] if place else []
    said += [line for line in facts.said.splitlines() if column.name.casefold() in line.casefold()]
    return any(map(_MEANS_NOTHING.search, said))
