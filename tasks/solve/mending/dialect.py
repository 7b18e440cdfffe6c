"""A query that DuckDB refuses + its error → the same query as DuckDB writes it: quoting, grouping, aggregates, casts.

Models write the SQL of the databases that they saw most. Each change keeps what the query meant there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import Form
from tasks.solve.mending.forms import conversion
from tasks.solve.mending.scopes import Schema, column_profile, column_type, columns_of, selects
from tasks.solve.showing.layout import spelled

if TYPE_CHECKING:
    from sqlglot import exp

_KEYWORD = re.compile(
    r"(?i)\b(select|distinct|from|join|on|where|and|or|by|having|as|in|then|else|when)(?=[^\x00-\x7f])"
)
_QUOTED = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")""")
_PLAIN = re.compile(r"[^\W\d]\w*")
_FOREIGN = ("sqlite", "mysql", "tsql")
_TEXT, _NUMBER = "VARCHAR", ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")
_DAYS = ("DATE", "TIMESTAMP")


def mend_text(sql: str, schema: Schema) -> tuple[str, list[str]]:
    """Set keywords apart from names, and quote columns whose names need it; nothing inside quotes is touched."""
    done: list[str] = []
    names = {c.name for t in schema.tables.values() for c in t.columns if not _PLAIN.fullmatch(c.name)}
    longest_first = sorted(names, key=len, reverse=True)
    tables = [table.name for table in schema.tables.values() if spelled(table.name) != table.name]

    def mend(part: str) -> str:
        if part[:1] in ("'", '"'):
            return part
        apart = _KEYWORD.sub(r"\1 ", part)
        if apart != part:
            done.append("keywords set apart from names")
        pieces = [apart]
        for name in tables:
            pattern = re.compile(rf"(?i)(?<=from )\s*{re.escape(name)}(?!\w)|(?<=join )\s*{re.escape(name)}(?!\w)")
            pieces = [
                q for piece in pieces for q in ([piece] if piece[:1] == '"' else _quoted(piece, pattern, name, done))
            ]
        for name in longest_first:
            pattern = re.compile(rf"(?i)(?<!\w){re.escape(name)}(?!\w)")
            pieces = [
                q for piece in pieces for q in ([piece] if piece[:1] == '"' else _quoted(piece, pattern, name, done))
            ]
        return "".join(pieces)

    return "".join(mend(part) for part in _QUOTED.split(sql)), done


def parse(sql: str) -> tuple[exp.Expr | None, list[str]]:
    """The query's tree, read as DuckDB's or else as another database's SQL; None when no reading fits."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    for dialect in ("duckdb", *_FOREIGN):
        try:
            tree = parse_one(sql, read=dialect)
        except (SqlglotError, RecursionError):
            continue
        if isinstance(tree, exp.Query):
            return tree, [] if dialect == "duckdb" else [f"read as the SQL of {dialect}"]
    return None, []


def mend_grouping(tree: exp.Expr, error: str) -> list[str]:
    """Group by what is shown beside an aggregate, where the error asks for it."""
    from sqlglot import exp

    if "GROUP BY" not in error:
        return []
    done: list[str] = []
    for select in selects(tree):
        if not any(
            _has_aggregate(item) for item in [*select.expressions, select.args.get("order"), select.args.get("having")]
        ):
            continue
        shown = [item.unalias() for item in select.expressions if not _has_aggregate(item)]
        group = select.args.get("group")
        grouped = {item.sql("duckdb").casefold() for item in (group.expressions if group else [])}
        missing = [item for item in shown if item.find(exp.Column) and item.sql("duckdb").casefold() not in grouped]
        extreme = [agg for item in select.expressions for agg in item.find_all(exp.Max, exp.Min)]
        if not group and missing and len(extreme) == 1 and select.args.get("having") is None:
            done += [_beside(item, extreme[0]) for item in missing]
        elif missing:
            select.group_by(*[item.copy() for item in missing], copy=False)
            done.append(f"grouped also by {', '.join(item.sql('duckdb') for item in missing)}")
        done += _any_value(select)
    return done


def mend_aggregates(tree: exp.Expr, error: str) -> list[str]:
    """Move conditions on aggregates from WHERE to HAVING; `x = max(x)` becomes a subquery."""
    from sqlglot import exp

    if "aggregates" not in error:
        return []
    done: list[str] = []
    for select in selects(tree):
        where = select.args.get("where")
        if where is None:
            continue
        parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
        moved = [part for part in parts if _has_aggregate(part)]
        if not moved:
            continue
        kept = [part.copy() for part in parts if part not in moved]
        select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
        for part in moved:
            if inner := _extreme(part, select):
                select.where(inner, copy=False)
            else:
                select.having(part.copy(), copy=False)
            done.append(f"condition {part.sql('duckdb')} on an aggregate moved")
    return done


def mend_types(tree: exp.Expr, error: str, schema: Schema) -> list[str]:
    """Cast columns of text that are used as dates or numbers, and dates that are matched as text."""
    from sqlglot import exp

    if not re.search(r"No function matches|Could not choose|Cannot compare|Cannot mix|Conversion Error", error):
        return []
    done: list[str] = []
    for column in [column for select in selects(tree) for column in columns_of(select)]:
        kind, parent = column_type(column, schema), column.parent
        target = ""
        if kind == _TEXT and isinstance(parent, exp.Sum | exp.Avg | exp.Binary) and _is_number(parent, column, schema):
            target = "DOUBLE"
        elif kind == _TEXT and (_is_date(parent) or _is_among_dates(parent, schema)):
            target = "TIMESTAMP"
        elif kind and kind != _TEXT and isinstance(parent, exp.Like | exp.ILike | exp.Substring):
            target = _TEXT
        form = _form(column, schema) if target in ("DOUBLE", "TIMESTAMP") else None
        if form and (form.kind == "number") == (target == "DOUBLE"):
            done.append(f"{column.sql('duckdb')} is {form.says}: converted")
            column.replace(conversion(column, form))
        elif target:
            done.append(f"{column.sql('duckdb')} cast to {target}")
            column.replace(exp.TryCast(this=column.copy(), to=exp.DataType.build(target, dialect="duckdb")))
    return done


def _form(column: exp.Column, schema: Schema) -> Form | None:
    """How the column's texts write their values, where that can be read by one expression."""
    place = column_profile(column, schema)
    form = place[1].form if place else None
    return form if form and form.sql else None


def _quoted(piece: str, pattern: re.Pattern[str], name: str, done: list[str]) -> list[str]:
    parts = pattern.split(piece)
    if len(parts) == 1:
        return parts
    done.append(f"quoted {name}")
    mark = '"' + name.replace('"', '""') + '"'
    return [q for i, part in enumerate(parts) for q in ((mark, part) if i else (part,))]


def _has_aggregate(node: exp.Expr | None) -> bool:
    """Whether an aggregate stands in it, not counting subqueries and windows."""
    from sqlglot import exp

    if node is None:
        return False
    found = node.find_all(exp.AggFunc)
    here = node if isinstance(node, exp.Select) else node.parent_select
    return any(agg.parent_select is here and not isinstance(agg.parent, exp.Window) for agg in found)


def _beside(item: exp.Expr, extreme: exp.Expr) -> str:
    """A bare column beside max or min is, where models learnt it, that of the row with the extreme."""
    from sqlglot import exp

    kind = exp.ArgMax if isinstance(extreme, exp.Max) else exp.ArgMin
    text = item.sql("duckdb")
    item.replace(kind(this=item.copy(), expression=extreme.this.copy()))
    return f"{text} taken from the row of {extreme.sql('duckdb')}"


def _any_value(select: exp.Select) -> list[str]:
    """Columns of ORDER BY and HAVING that are not grouped by: any value of the group."""
    from sqlglot import exp

    group = select.args.get("group")
    if group is None:
        return []
    grouped = {item.sql("duckdb").casefold() for item in group.expressions}
    named = {item.alias.casefold() for item in select.expressions if item.alias}
    done = []
    for clause in ("order", "having"):
        node = select.args.get(clause)
        for column in list(node.find_all(exp.Column)) if node else []:
            inside = column.find_ancestor(exp.AggFunc, exp.Select)
            if column.parent_select is not select or isinstance(inside, exp.AggFunc):
                continue
            if column.sql("duckdb").casefold() in grouped or (not column.table and column.name.casefold() in named):
                continue
            column.replace(exp.AnyValue(this=column.copy()))
            done.append(f"any value of {column.sql('duckdb')} in its group")
    return done


def _extreme(part: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """`x = max(x)` → `x = (SELECT max(x) FROM …)` over the same rows."""
    from sqlglot import exp

    if not isinstance(part, exp.EQ):
        return None
    sides = {type(side): side for side in (part.this, part.expression)}
    aggregate = sides.get(exp.Max) or sides.get(exp.Min)
    column = sides.get(exp.Column)
    if aggregate is None or column is None or aggregate.this != column:
        return None
    inner = exp.Select(expressions=[aggregate.copy()])
    for clause in ("from_", "joins", "where"):
        value = select.args.get(clause)
        if value:
            inner.set(clause, [item.copy() for item in value] if isinstance(value, list) else value.copy())
    return exp.EQ(this=column.copy(), expression=exp.Subquery(this=inner))


def _is_number(parent: exp.Expr, column: exp.Column, schema: Schema) -> bool:
    from sqlglot import exp

    if not isinstance(parent, exp.Binary):
        return True
    other = parent.expression if parent.this is column else parent.this
    if isinstance(other, exp.Column):
        return column_type(other, schema).startswith(_NUMBER)
    return bool(isinstance(other, exp.Literal) and not other.is_string) or isinstance(
        other, exp.Neg | exp.AggFunc | exp.Subquery
    )


def _is_among_dates(parent: exp.Expr | None, schema: Schema) -> bool:
    """Whether days or moments are compared, or an interval is added to something."""
    from sqlglot import exp

    if not isinstance(parent, exp.Binary | exp.Between):
        return False
    return any(
        isinstance(other, exp.Interval)
        or (isinstance(other, exp.Cast) and other.to.this in exp.DataType.TEMPORAL_TYPES)
        or (isinstance(other, exp.Column) and column_type(other, schema).startswith(_DAYS))
        for other in parent.iter_expressions()
    )


def _is_date(function: exp.Expr | None) -> bool:
    from sqlglot import exp

    return isinstance(
        function,
        exp.Year | exp.Month | exp.Day | exp.Quarter | exp.Week | exp.DayOfWeek | exp.Extract | exp.TimeToStr
        | exp.DateTrunc | exp.TimestampTrunc | exp.DateDiff | exp.DateAdd | exp.DateSub,
    )  # fmt: skip
