"""A query and its result's names → headings that a reader understands where the query names nothing itself.

DuckDB heads such a column with the expression, as `count_star()`. The query stays as it is, also in the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.sql.names import unique_names
from tasks.solve.mending.dialect import parse
from tasks.solve.publishing.moments import moment

if TYPE_CHECKING:
    from sqlglot import exp

_CHARS = 60
"""Longest heading that is made."""
_OF = {
    "avg": "average", "min": "minimum", "max": "maximum", "stddev": "standard deviation", "stddev_samp": "standard deviation",
    "stddev_pop": "standard deviation", "abs": "absolute", "array_agg": "list", "group_concat": "list", "string_agg": "list",
    "listagg": "list", "lag": "previous", "lead": "next",
}  # fmt: skip
"""Words for functions whose names are none."""
_NOT_SAID = frozenset(
    ["round", "floor", "ceil", "ceiling", "trunc", "cast", "try_cast", "coalesce", "nullif", "upper", "lower", "trim", "ltrim",
     "rtrim", "first", "last", "any_value"]
)  # fmt: skip
"""Functions that change how a value is written or which one stands for all: the heading is that of the value."""
_CLEANING = frozenset(
    ["replace", "regexp_replace", "regexp_extract", "translate", "split_part", "str_split", "string_split", "split", "substr",
     "substring", "left", "right", "strip_accents", "lpad", "rpad", "concat", "list_extract", "array_extract", "element_at"]
)  # fmt: skip
"""Functions that take a text's value out of what stands around it: inside of another function they are not said."""


def headings(sql: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Headings of the query's columns, one for each of the result's names; a name that occurs again gets a number."""
    tree, _ = parse(sql)
    found = list(names)
    if tree is not None:
        inner = {_key(part.sql("duckdb")): part for part in _unnamed(tree)}
        for at, part in enumerate(_outputs(tree, len(names))):
            if part is not None and not _has_name(part):
                found[at] = _heading(part) or names[at]
            elif same := inner.get(_key(names[at])):
                found[at] = _heading(same) or names[at]
    return unique_names(found)


def _outputs(tree: exp.Expr, width: int) -> list[exp.Expr | None]:
    """The expression of each column of the result; None for those that a star stands for."""
    from sqlglot import exp

    parts = list(tree.selects) if isinstance(tree, exp.Query) else []
    stars = [at for at, part in enumerate(parts) if part.is_star]
    if not stars:
        return list(parts) if len(parts) == width else [None] * width
    after = len(parts) - stars[-1] - 1
    return [*parts[: stars[0]], *([None] * (width - stars[0] - after)), *parts[len(parts) - after :]][:width]


def _unnamed(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Expressions without a name in every SELECT."""
    from sqlglot import exp

    for select in tree.find_all(exp.Select):
        yield from (part for part in select.expressions if not _has_name(part) and not part.is_star)


def _has_name(part: exp.Expr) -> bool:
    from sqlglot import exp

    return isinstance(part, exp.Alias | exp.Aliases | exp.Column | exp.Dot)


def _key(text: str) -> str:
    """What two spellings of an expression share."""
    return re.sub(r'[\s()"]', "", text.casefold().replace("count(*)", "count_star"))


def _heading(part: exp.Expr) -> str:
    """The expression in words, on one line; a long one is cut between words."""
    said = " ".join(_said(part).split())
    if len(said) > _CHARS and (of := _of_columns(part)):
        said = of
    if len(said) > _CHARS:
        said = f"{said[:_CHARS].rpartition(' ')[0] or said[:_CHARS]} …"
    return said


def _said(part: exp.Expr | None) -> str:
    from sqlglot import exp

    if part is None or isinstance(part, exp.Star):
        return ""
    if isinstance(part, exp.Column | exp.Identifier | exp.Literal | exp.Alias):
        return str(part.alias_or_name if isinstance(part, exp.Alias) else part.name)
    if isinstance(part, exp.Paren | exp.Window | exp.Cast | exp.Bracket | exp.Distinct | exp.Order | exp.Ordered):
        return _wrapped(part)
    if isinstance(part, exp.Filter):
        return f"{_said(part.this)} where {_said(part.expression.this)}"
    if isinstance(part, exp.WithinGroup):
        return f"{_said(part.this)} of {', '.join(map(_said, part.expression.expressions))}"
    if isinstance(part, exp.Subquery | exp.Query):
        return ", ".join(map(_said, part.selects))
    if isinstance(part, exp.Case):
        return _case(part)
    if isinstance(part, exp.Binary | exp.Unary):
        return _operation(part)
    return _call(part) if isinstance(part, exp.Func) else part.sql("duckdb")


def _wrapped(part: exp.Expr) -> str:
    """What is inside of it is what it says."""
    from sqlglot import exp

    if isinstance(part, exp.Distinct):
        return "distinct " + ", ".join(map(_said, part.expressions))
    return _said(part.this)


def _operation(part: exp.Expr) -> str:
    """An operation with its sign; an inner one in brackets where these count; a factor of one is left out."""
    from sqlglot import exp

    if not isinstance(part, exp.Binary):
        sign = {"Neg": "-", "Not": "not "}.get(type(part).__name__, "")
        return f"{sign}{_said(part.this)}"
    sides = [part.left, part.right]
    if isinstance(part, exp.DPipe):
        return " ".join(_said(side) for side in sides if not isinstance(side, exp.Literal))
    if isinstance(part, exp.Mul) and any(_is_one(side) for side in sides):
        return _said(next((side for side in sides if not _is_one(side)), sides[0]))
    sign = {"And": "and", "Or": "or", "EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<=", "Add": "+",
            "Sub": "-", "Mul": "*", "Div": "/", "IntDiv": "//", "Mod": "%", "Is": "is", "Like": "like", "ILike": "like"}.get(
        type(part).__name__, type(part).__name__.lower()
    )  # fmt: skip
    left, right = (_bracketed(side) for side in sides)
    if left == right:  # two parts of one text
        left, right = (_bracketed(side, cleaned=False) for side in sides)
    return f"{left} {sign} {right}"


def _bracketed(side: exp.Expr, cleaned: bool = True) -> str:
    from sqlglot import exp

    inner = side.this if isinstance(side, exp.Paren) else side
    inner = _cleaned(inner) if cleaned else inner
    said = _said(inner)
    loose = isinstance(inner, exp.Add | exp.Sub | exp.Or) and isinstance(side, exp.Paren)
    condition = " where " in said and not isinstance(inner, exp.Binary)
    return f"({said})" if loose or condition else said


def _is_one(side: exp.Expr) -> bool:
    from sqlglot import exp

    return isinstance(side, exp.Literal) and not side.is_string and float(side.name) == 1


def _case(part: exp.Case) -> str:
    """The value of its one branch and the condition; of several branches the columns that they look at."""
    from sqlglot import exp

    branches, rest = part.args["ifs"], part.args.get("default")
    bare = rest is None or isinstance(rest, exp.Null) or (isinstance(rest, exp.Literal) and rest.name in ("0", "0.0"))
    if len(branches) == 1 and bare and part.this is None:
        return f"{_said(branches[0].args['true'])} where {_said(branches[0].this)}"
    columns = dict.fromkeys(column.name for column in part.find_all(exp.Column))
    return f"case of {', '.join(columns)}" if columns else "case"


def _call(part: exp.Func) -> str:
    """A function of its first argument, in words: `sum of amount`."""
    from sqlglot import exp

    name, first = _name(part), _first(part)
    if isinstance(part, exp.Count):
        return _counted(part)
    if name in _NOT_SAID:
        return _said(first)
    if found := moment(part, name):
        return f"{found[0]} of {_said(_cleaned(found[1]))}" if found[0] else _said(found[1])
    if isinstance(part, exp.DateDiff):
        return f"{_unit(part)}s from {_said(part.expression)} to {_said(part.this)}"
    if isinstance(part, exp.ArgMax | exp.ArgMin):
        largest = "largest" if isinstance(part, exp.ArgMax) else "smallest"
        return f"{_said(part.this)} of the {largest} {_said(part.expression)}"
    if isinstance(part, exp.PercentileCont | exp.PercentileDisc):
        share = part.expression or part.this
        return f"percentile {_said(share)}" + (f" of {_said(part.this)}" if part.expression else "")
    if isinstance(part, exp.DateTrunc | exp.TimestampTrunc):
        return f"{_unit(part)} of {_said(part.this)}"
    if isinstance(part, exp.Sum | exp.CountIf) and (condition := _condition(part)):
        return f"count where {condition}"
    word = _OF.get(name, name.replace("_", " "))
    inner = _said(_cleaned(first))
    return f"{word} of {inner}" if inner else word


def _cleaned(part: exp.Expr | None) -> exp.Expr | None:
    """The part within what only takes a value out of its text, or writes it as another type."""
    from sqlglot import exp

    found = part
    while isinstance(found, exp.Func | exp.Paren | exp.Bracket) and not isinstance(found, exp.AggFunc):
        if isinstance(found, exp.Func) and _name(found) not in _CLEANING | _NOT_SAID:
            break
        found = _first(found)
    return found if isinstance(found, exp.Expr) else part


def _of_columns(part: exp.Expr) -> str:
    """`average of area, width`: the outermost function of the columns that it is made of; empty for what is no function."""
    from sqlglot import exp

    while isinstance(part, exp.Paren | exp.Window) or (isinstance(part, exp.Func) and _name(part) in _NOT_SAID):
        part = _first(part) or exp.Null()
    columns = dict.fromkeys(column.name for column in part.find_all(exp.Column))
    if not isinstance(part, exp.Func) or isinstance(part, exp.Case) or not columns:
        return ""
    name = _name(part)
    return f"{_OF.get(name, name.replace('_', ' '))} of {', '.join(columns)}"


def _name(part: exp.Expr) -> str:
    """Of a function, as the query writes it."""
    from sqlglot import exp

    named = isinstance(part, exp.Anonymous | exp.AnonymousAggFunc)
    return str(part.name if named or not isinstance(part, exp.Func) else part.sql_name()).casefold()


def _first(part: exp.Expr) -> exp.Expr | None:
    """What a function is of: its first argument."""
    from sqlglot import exp

    return part.this if isinstance(part.this, exp.Expr) else next(iter(part.expressions), None)


def _unit(part: exp.Expr) -> str:
    unit = part.args.get("unit")
    return str(unit.name).casefold() if unit is not None else "day"


def _counted(part: exp.Expr) -> str:
    from sqlglot import exp

    if isinstance(part.this, exp.Case) and (condition := _condition(part)):
        return f"count where {condition}"
    inner = "" if isinstance(part.this, exp.Literal) else _said(part.this)
    return f"count of {inner}" if inner else "count"


def _condition(part: exp.Expr) -> str:
    """What is counted by a sum of ones, or a count of them, in a CASE; empty for anything else."""
    from sqlglot import exp

    inner = part.this
    if isinstance(part, exp.CountIf):
        return _said(inner)
    one = isinstance(inner, exp.Case) and len(inner.args["ifs"]) == 1 and _is_one(inner.args["ifs"][0].args["true"])
    return _case(inner).partition(" where ")[2] if one else ""
