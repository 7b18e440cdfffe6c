"""A query + the formats of text columns → where text is ordered, compared or cast as what it is not, and the same read rightly.

A query that does so runs, and its answer is wrong without a word; the profile knows how each column writes its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile, Form
from tasks.solve.mending.scopes import Schema, columns_of, resolved, selects

if TYPE_CHECKING:
    from sqlglot import exp

PLAIN = "TRY_CAST({x} AS DOUBLE)"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2})?)?")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_WITH_UNIT = re.compile(r"[^\dA-Za-z]{0,2}(?:d|1,234)(?:\s*[^\dd\s,.:/-]{1,8}){1,2}")
"""Shape of a number and a word: `d kg`, `d公顷`."""


@dataclass(frozen=True)
class Use:
    """One place of a query where a text column counts as a number or a day."""

    how: str
    """`ordered`, `compared` or `cast`; `extreme` for the smallest or largest."""
    column: exp.Column
    profile: ColumnProfile
    form: Form
    node: exp.Expr
    """The key, comparison, function or cast around the column."""


def conversion(column: exp.Expr, form: Form) -> exp.Expr:
    """The expression that reads the column in its format."""
    from sqlglot import parse_one

    return parse_one(form.sql.replace("{x}", column.sql("duckdb")), read="duckdb")


def uses(tree: exp.Expr, schema: Schema) -> Iterator[Use]:
    """Text that counts as what its characters are not: its order is not that of the values, or a cast reads it wrongly."""
    for select in selects(tree):
        for column in columns_of(select):
            place = resolved(_meant(column, select), schema)
            form = place[1].form if place and place[1].type == "VARCHAR" else None
            if place is None or form is None:
                continue
            if found := _how(column, form, schema):
                yield Use(found[0], column, place[1], form, found[1])


def loose(tree: exp.Expr, schema: Schema) -> Iterator[ColumnProfile]:
    """Text columns that the query orders, or takes the smallest or largest of, though most of their values are numbers, plain or with a unit."""
    for select in selects(tree):
        for column in columns_of(select):
            place = resolved(_meant(column, select), schema)
            if place and place[1].type == "VARCHAR" and _ranked(column) and _is_loose(place[1]):
                yield place[1]


def _is_loose(profile: ColumnProfile) -> bool:
    form = profile.form
    if form is None:
        return bool(_WITH_UNIT.fullmatch(profile.shape))
    return form.sql == PLAIN and not form.sortable and form.values / 2 <= form.read < form.values


def turned(profile: ColumnProfile) -> bool:
    """Whether the first of a column's texts has the larger number: their order is surely not that of the numbers."""
    ends = [
        re.search(r"[0-9]+(?:\.[0-9]+)?", (text or "").replace(",", "")) for text in (profile.minimum, profile.maximum)
    ]
    return all(ends) and float(ends[0][0]) > float(ends[1][0])  # type: ignore[index]


def mend_forms(tree: exp.Expr, schema: Schema) -> list[str]:
    """Put the conversion of its format in wherever such text is ordered, compared or cast."""
    done = []
    for use in list(uses(tree, schema)):
        if use.form.sql and (reason := _put(use)):
            done.append(reason)
    return list(dict.fromkeys(done))


def chain(column: exp.Expr) -> exp.Expr:
    """The outermost of the functions around a column that only take signs away or exchange them."""
    from sqlglot import exp

    node: exp.Expr = column
    while isinstance(node.parent, exp.Replace | exp.Trim | exp.Nullif | exp.Paren | exp.RegexpReplace | exp.Translate):
        if node.parent.this is not node:
            break
        node = node.parent
    return node


def is_cast(node: exp.Expr | None, form: Form) -> bool:
    """Whether it makes a number, for a column of numbers, or a day or moment, for a column of these."""
    from sqlglot import exp

    if isinstance(node, exp.Cast):
        kinds = exp.DataType.NUMERIC_TYPES if form.kind == "number" else exp.DataType.TEMPORAL_TYPES
        return node.to.this in kinds
    named = isinstance(node, exp.Anonymous) and node.name.casefold() == "try_strptime"
    return form.kind != "number" and (named or isinstance(node, exp.StrToTime | exp.StrToDate))


def _meant(column: exp.Column, select: exp.Select) -> exp.Column:
    """The column that an output name in ORDER BY stands for."""
    from sqlglot import exp

    if column.table or not isinstance(column.parent, exp.Ordered):
        return column
    for item in select.expressions:
        if isinstance(item, exp.Alias) and item.alias.casefold() == column.name.casefold():
            return item.this if isinstance(item.this, exp.Column) else exp.column("")
    return column


def _how(column: exp.Column, form: Form, schema: Schema) -> tuple[str, exp.Expr] | None:
    outer = chain(column)
    if is_cast(outer.parent, form) and _is_first(outer):
        wrong = outer.parent and form.sql != PLAIN and not (form.kind != "number" and form.sortable)
        return ("cast", outer.parent) if wrong and outer.parent else None
    if ranked := _ranked(column):
        return None if form.sortable or not _whole(form) else ranked
    parent = column.parent
    return ("compared", parent) if parent and _is_misread(parent, column, form, schema) else None


def _ranked(column: exp.Column) -> tuple[str, exp.Expr] | None:
    """How the order of the column counts, and the key or function around it; None where it does not."""
    from sqlglot import exp

    parent = column.parent
    if isinstance(parent, exp.Ordered | exp.Max | exp.Min) and parent.this is column and not _counted(parent):
        return ("ordered" if isinstance(parent, exp.Ordered) else "extreme", parent)
    if isinstance(parent, exp.ArgMax | exp.ArgMin) and parent.expression is column:
        return ("extreme", parent)
    return None


def _is_first(node: exp.Expr) -> bool:
    from sqlglot import exp

    parent = node.parent
    return parent is not None and (parent.expressions[0] if isinstance(parent, exp.Anonymous) else parent.this) is node


def _counted(node: exp.Expr) -> bool:
    return len(node.args.get("expressions") or ()) > 0


def _whole(form: Form) -> bool:
    """Plain numbers beside other texts may be codes: then their order is their own affair."""
    return form.sql != PLAIN or form.read == form.values


def _is_misread(node: exp.Expr, column: exp.Column, form: Form, schema: Schema) -> bool:
    from sqlglot import exp

    if isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
        others = [node.expression if node.this is column else node.this]
    elif isinstance(node, exp.Between) and node.this is column:
        others = [node.args["low"], node.args["high"]]
    elif isinstance(node, exp.EQ | exp.NEQ) and form.sql != PLAIN:
        others = [node.expression if node.this is column else node.this]
        return any(_is_foreign(other, form) or isinstance(other, exp.Subquery) for other in others)
    elif isinstance(node, exp.In) and node.this is column and form.sql != PLAIN:
        return any(_is_foreign(other, form) for other in node.expressions)
    else:
        return False
    if not _whole(form):
        return False
    if form.sortable:
        return any(_is_foreign(other, form) for other in others)
    return all(_is_value(other, schema) for other in others)


def _is_value(other: exp.Expr, schema: Schema) -> bool:
    """Something that the column's values can be held against."""
    from sqlglot import exp

    if isinstance(other, exp.Column):
        place = resolved(other, schema)
        return bool(place and place[1].form)
    return isinstance(other, exp.Literal | exp.Neg | exp.Subquery | exp.Cast)


def _is_foreign(other: exp.Expr, form: Form) -> bool:
    """A literal in the form of queries that no text of the column has."""
    from sqlglot import exp

    if not isinstance(other, exp.Literal):
        return False
    if form.kind == "number":
        return bool(_NUMBER.fullmatch(other.name))
    return bool(_ISO.fullmatch(other.name)) and not _ISO.fullmatch(form.example)


def _put(use: Use) -> str:
    from sqlglot import exp

    column, form = use.column, use.form
    before = use.node.sql("duckdb")
    if use.how == "cast":
        after = conversion(column, form)
        if _in_form(use):
            return ""
        if isinstance(use.node, exp.Cast) and not _drops(use.node, form):
            after = exp.Cast(this=after, to=use.node.to.copy())
        use.node.replace(after)
        return f"{before} reads {use.profile.name} as it is written: {form.says}"
    if use.how == "compared":
        _literals(use)
    source = _meant(column, column.parent_select) if use.how == "ordered" and column.parent_select else column
    column.replace(conversion(source, form))
    return f"{before}: {use.profile.name} is {form.says}, so it is converted first"


def _in_form(use: Use) -> bool:
    """Whether the cast is part of the conversion already, or a strptime has the formats of the column."""
    written = use.node.sql("duckdb")
    formats = re.findall(r"'(%[^']*)'", written)
    if formats and use.form.kind != "number":
        return all(f"'{each}'" in use.form.sql for each in formats)
    wanted = conversion(use.column, use.form).sql("duckdb").replace("TRY_", "")
    node: exp.Expr | None = use.node
    while node is not None and len(written) <= len(wanted) + 4:
        written = node.sql("duckdb")
        if written.replace("TRY_", "") == wanted:
            return True
        node = node.parent
    return False


def _drops(cast: exp.Cast, form: Form) -> bool:
    """A type that the conversion replaces: DOUBLE and whole numbers, which would round, and the day itself."""
    from sqlglot import exp

    if form.kind == "number":
        return cast.to.this in (*exp.DataType.INTEGER_TYPES, *exp.DataType.FLOAT_TYPES)
    return bool(cast.to.this == (exp.DType.DATE if form.kind == "day" else exp.DType.TIMESTAMP))


def _literals(use: Use) -> None:
    """Texts that the column is compared with, read as numbers or days themselves."""
    from sqlglot import exp

    node = use.node
    others = [node.args.get("low"), node.args.get("high"), *(node.expressions if isinstance(node, exp.In) else ())]
    if isinstance(node, exp.Binary):
        others = [node.expression if node.this is use.column else node.this]
    for other in others:
        if not isinstance(other, exp.Literal) or not other.is_string:
            continue
        if use.form.kind == "number" and _NUMBER.fullmatch(other.name):
            other.replace(exp.Literal.number(other.name))
        elif use.form.kind != "number" and _ISO.fullmatch(other.name):
            kind = "TIMESTAMP" if use.form.kind == "moment" else "DATE"
            other.replace(exp.Cast(this=other.copy(), to=exp.DataType.build(kind)))
        else:
            other.replace(conversion(other, use.form))
