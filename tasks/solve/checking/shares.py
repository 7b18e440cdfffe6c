"""shares that the query computes → whether rows without a value are left out of the whole, with the share over all, computed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.solve.checking.facts import Facts
from tasks.solve.checking.gaps import EMPTY
from tasks.solve.checking.measuring import Measuring, whole

if TYPE_CHECKING:
    from sqlglot import exp

    from tasks.core.models.value import Cell

_SHARE = re.compile(
    r"(?i)%|\b(?:percent\w*|per cent|shares?|proportions?|fractions?|rates?|ratio|portion)\b|比例|占比|百分|比率|份额|占[^，,。]{0,6}多少|[^利汇税]率"
)
_AMONG = re.compile(
    r"(?i)\b(?:among|of those|of the ones|answered|respond\w*|valid|rated (?:ones|orders|items))\b|有评分|已评|已填|回答|其中|有效"
)


async def shares(facts: Facts, counts: Measuring) -> Check | None:
    """The whole of a share is all rows; where those without a value are left out, both numbers are said."""
    from sqlglot import exp

    if not _SHARE.search(facts.question) or _AMONG.search(facts.question) or EMPTY.search(facts.question):
        return None
    for node, value, filled in _wholes(facts):
        select = _outer(node)
        output, inner = _output(node, select), node.parent_select
        if select is None or output is None or not isinstance(inner, exp.Select):
            continue
        test = counts.over(inner, [f"count_if(({value}) IS NULL) AS e", "count(*) AS n"])
        row = await counts.row(test)
        if not row or not whole(row[0]):
            continue
        other = _exchanged(output, node, filled)
        grouped = counts.over(select, [f"{output.sql('duckdb')} AS a", f"{other} AS b"], grouped=True)
        both = await counts.row(f"SELECT a, b FROM ({grouped}) WHERE a IS DISTINCT FROM b LIMIT 1")
        if both:
            of = " in a group" if select.args.get("group") else ""
            detail = (
                f"{node.sql('duckdb')[:100]} leaves out {whole(row[0])} of {whole(row[1])} rows that have no value: "
                f"{_short(both[0])}{of}, and {_short(both[1])} where they count as rows of which it does not hold"
            )
            return Check(name="share", outcome="noted", detail=detail)
    return None


def _wholes(facts: Facts) -> Iterator[tuple[exp.Expr, str, str]]:
    """Counts of a column below a division, and averages of a flag: with what may be empty, and what takes all rows."""
    from sqlglot import exp

    for division in facts.tree.find_all(exp.Div):
        for node in division.expression.find_all(exp.Count):
            place = facts.place(node.this) if isinstance(node.this, exp.Column) else None
            if place and place[1].null_share and not isinstance(node.parent, exp.Window | exp.Filter):
                yield node, node.this.sql("duckdb"), "count(*)"
    for node in facts.tree.find_all(exp.Avg):
        if not isinstance(node.parent, exp.Window | exp.Filter) and _is_flag(node.this, facts):
            value = node.this.sql("duckdb")
            yield node, value, f"sum(coalesce(CAST(({value}) AS DOUBLE), 0)) / count(*)"


def _is_flag(part: exp.Expr, facts: Facts) -> bool:
    """Whether a value is yes or no: a condition, a CASE between two numbers one of which is none, or a column of 0 and 1."""
    from sqlglot import exp

    while isinstance(part, exp.Cast | exp.Paren):
        part = part.this
    if isinstance(part, exp.Mul):
        sides = [side for side in (part.this, part.expression) if not isinstance(side, exp.Literal)]
        return len(sides) == 1 and _is_flag(sides[0], facts)
    if isinstance(part, exp.Case):
        put = [branch.args["true"] for branch in part.args["ifs"]]
        put += [part.args["default"]] if part.args.get("default") else []
        return all(isinstance(one, exp.Literal | exp.Null) for one in put) and any(
            one.name in ("0", "0.0") for one in put
        )
    if isinstance(part, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.In | exp.Between | exp.Like):
        return True
    place = facts.place(part)
    if place is None:
        return False
    return place[1].type == "BOOLEAN" or (place[1].distinct <= 2 and {place[1].minimum, place[1].maximum} <= {"0", "1"})


def _outer(node: exp.Expr) -> exp.Select | None:
    """The SELECT that shows what the count is a part of: the one around a subquery that gives the whole alone."""
    from sqlglot import exp

    division = node.find_ancestor(exp.Div)
    select = (division or node).parent_select
    return select if isinstance(select, exp.Select) else None


def _output(node: exp.Expr, select: exp.Select | None) -> exp.Expr | None:
    """The output of the SELECT in which the node stands, without its name."""
    part: exp.Expr | None = node
    while part is not None and part.parent is not select:
        part = part.parent
    return part.unalias() if part is not None and part.arg_key == "expressions" else None


def _exchanged(output: exp.Expr, node: exp.Expr, filled: str) -> str:
    """The output with something else in the node's place."""
    from sqlglot import exp, parse_one

    new = parse_one(filled, read="duckdb")
    if output is node:
        return str(new.sql("duckdb"))
    turned = output.copy().transform(
        lambda part: new.copy() if isinstance(part, exp.AggFunc) and part == node else part
    )
    return str(turned.sql("duckdb"))


def _short(value: Cell) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
