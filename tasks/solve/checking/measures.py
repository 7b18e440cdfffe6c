"""functions, order and limit of the query → whether the question's words ask for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.solve.checking import asked
from tasks.solve.checking.facts import KEYISH, Facts

if TYPE_CHECKING:
    from sqlglot import exp

_DAYS = ("DATE", "TIME", "TIMESTAMP")
_BACKWARDS = re.compile(
    r"(?i)rank|position|place|date|year|birth|since|time|day|age\b|founded|order|level|grade|名次|排名|日期|年"
)
"""Columns whose largest value may be what is called the lowest, or the other way round."""
_RISING = re.compile(
    r"(?i)\bascending\b|升序|从低到高|从小到大|由低到高|由小到大|smallest first|lowest first|alphabetical"
)
_FALLING = re.compile(
    r"(?i)\bdescending\b|降序|从高到低|从大到小|由高到低|由大到小|largest first|highest first|best first"
)


def measure(facts: Facts) -> Check | None:
    """The function over the values is the one that the question names."""
    question = facts.question
    functions = _functions(facts)
    average, total = asked.AVERAGE.search(question), asked.TOTAL.search(question)
    counted = asked.COUNTED.search(question)
    known = facts.said
    detail = ""
    if "avg" in functions and not average and not asked.MEAN.search(known):
        detail = "the query takes an average, and the question asks for none"
    elif "avg" in functions and total and not _has_word(average, "average", "mean", "平均", "均值", "avg", "人均"):
        detail = f"the question says {total.group()!r}, and the query takes an average"
    elif _has_word(average, "average", "mean", "平均", "均值", "avg", "人均") and not functions & {
        "avg",
        "/",
        "median",
        "window",
    }:
        if not _names(facts, asked.MEAN):
            detail = "the question asks for an average, and the query takes none"
    elif total and functions & {"avg", "count", "max", "min"} and not functions & {"sum", "/"}:
        if not counted and not _names(facts, asked.TOTAL) and "count" not in functions:
            detail = f"the question says {total.group()!r}, and the query adds up nothing"
    elif counted and "sum" in functions and "count" not in functions and not total and _of_key(facts):
        detail = "the question asks how many, and the query adds up numbers that are names of things"
    return Check(name="measure", outcome="failed", detail=detail) if detail else None


def summed(facts: Facts) -> Check | None:
    """Nothing is added up that only names or dates a thing, and no single value is held against a sum of its kind."""
    from sqlglot import exp

    for node in facts.tree.find_all(exp.Sum, exp.Avg):
        place = facts.place(node.this)
        if place is None:
            continue
        dated = isinstance(node, exp.Sum) and bool(re.search(r"(?i)(?:^|_)year$|[a-z]Year$|年份$", place[1].name))
        if dated or KEYISH.search(place[1].name):
            detail = f"{node.sql('duckdb')} computes with {place[1].name}, which names a thing and measures nothing"
            return Check(name="sum", outcome="failed", detail=detail)
    for pair in facts.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ):
        inner = pair.expression.this if isinstance(pair.expression, exp.Subquery) else None
        output = inner.selects[0].unalias() if isinstance(inner, exp.Select) and inner.selects else None
        if isinstance(output, exp.Sum) and isinstance(pair.this, exp.Column) and pair.this.name == output.this.name:
            detail = f"each {pair.this.name} is held against the sum of all"
            return Check(name="sum", outcome="failed", detail=detail)
    return None


def _has_word(found: re.Match[str] | None, *words: str) -> bool:
    return bool(found and any(found.group().casefold().startswith(word) for word in words))


def _functions(facts: Facts) -> set[str]:
    from sqlglot import exp

    named = {exp.Avg: "avg", exp.Sum: "sum", exp.Count: "count", exp.CountIf: "count", exp.Max: "max", exp.Min: "min",
             exp.Div: "/", exp.IntDiv: "/", exp.Median: "median", exp.Window: "window"}  # fmt: skip
    return {named[type(node)] for node in facts.tree.find_all(*named)}


def _names(facts: Facts, words: re.Pattern[str]) -> bool:
    """A column that the query reads is itself called so, or means so."""
    from sqlglot import exp

    places = [facts.place(column) for column in facts.tree.find_all(exp.Column)]
    return any(words.search(f"{p[1].name.replace('_', ' ')} {p[1].meaning}") for p in places if p)


def _of_key(facts: Facts) -> bool:
    from sqlglot import exp

    places = [facts.place(node.this) for node in facts.tree.find_all(exp.Sum)]
    return any(place and KEYISH.search(place[1].name) for place in places)


def extreme(facts: Facts) -> Check | None:
    """The largest is taken where the question says highest or most, the smallest where it says lowest or least."""
    text = asked.without_bounds(facts.question)
    high, low = asked.HIGH.search(text), asked.LOW.search(text)
    if bool(high) == bool(low):
        return None
    for node, rising in _extremes(facts):
        if node is None or rising is not bool(high):
            continue
        word = (high or low).group()  # type: ignore[union-attr]
        detail = f"the question says {word!r}, and the query takes the {'smallest' if rising else 'largest'} {node}"
        return Check(name="extreme", outcome="failed", detail=detail)
    return None


def _extremes(facts: Facts) -> list[tuple[str | None, bool]]:
    """What the query takes the end of, and whether it is the lower end; None where ends may be called either way."""
    from sqlglot import exp

    found: list[tuple[str | None, bool]] = []
    for node in facts.tree.find_all(exp.Max, exp.Min):
        found.append((_plain(node.this, facts), isinstance(node, exp.Min)))
    for select in facts.tree.find_all(exp.Select, exp.SetOperation):
        order, limit = select.args.get("order"), select.args.get("limit")
        if order and limit and order.expressions:
            first = order.expressions[0]
            found.append((_plain(first.this, facts, select), not first.args.get("desc")))
    return found


def _plain(node: exp.Expr, facts: Facts, select: exp.Expr | None = None) -> str | None:
    from sqlglot import exp

    if isinstance(node, exp.Column) and not node.table and isinstance(select, exp.Select):
        aliases = {item.alias.casefold(): item.this for item in select.selects if isinstance(item, exp.Alias)}
        node = aliases.get(node.name.casefold(), node)
    if isinstance(node, exp.Abs | exp.Paren):
        node = node.this
    if isinstance(node, exp.Count | exp.Sum | exp.Avg):
        return str(node.sql("duckdb"))
    if isinstance(node, exp.Binary):
        parts = [_plain(part, facts) for part in (node.this, node.expression) if not isinstance(part, exp.Literal)]
        return str(node.sql("duckdb")) if all(parts) else None
    place = facts.place(node)
    if place is None or place[1].type.startswith(_DAYS) or _BACKWARDS.search(place[1].name.replace("_", " ")):
        return None
    return place[1].name


def sorting(facts: Facts) -> Check | None:
    """Rows stand in the direction that the question says."""
    rising, falling = _RISING.search(facts.question), _FALLING.search(facts.question)
    order = facts.tree.args.get("order")
    if bool(rising) == bool(falling) or not order or not order.expressions:
        return None
    if bool(order.expressions[0].args.get("desc")) is bool(falling):
        return None
    word = (rising or falling).group()  # type: ignore[union-attr]
    return Check(name="sorting", outcome="failed", detail=f"the question says {word!r}, the query sorts the other way")


def cut(facts: Facts) -> Check | None:
    """Rows are cut off only where the question asks for the first, the most or so many."""
    from sqlglot import exp

    wanted, outer = asked.first_of(facts.question), facts.tree.args.get("limit")
    written = outer.args.get("expression") if outer else None
    if wanted and isinstance(written, exp.Literal) and float(written.name) < wanted and wanted > 1:
        detail = f"the question asks for {wanted:g}, and the query takes {written.name}"
        return Check(name="cut", outcome="failed", detail=detail)
    for limit in facts.tree.find_all(exp.Limit):
        count = limit.args.get("expression")
        if not isinstance(count, exp.Literal) or facts.contract.limit is not None:
            continue
        number = float(count.name)
        if not asked.EXTREME.search(asked.without_bounds(facts.question)) and number not in _stated(facts):
            detail = f"the query takes {count.name} of the rows, and the question asks for all of them"
            return Check(name="cut", outcome="failed", detail=detail)
        if number > 1 and number not in asked.spoken(facts.question):
            detail = f"the query takes the first {count.name}, a number that the question does not say"
            return Check(name="cut", outcome="failed", detail=detail)
    return None


def _stated(facts: Facts) -> set[float]:
    """Numbers other than one: `one` may be anything."""
    return asked.spoken(facts.question) - {1.0}
