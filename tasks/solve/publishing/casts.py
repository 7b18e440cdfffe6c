"""replayed query + profile → checks of how it reads text: values that a cast loses or reads otherwise, text compared as text.

Counted over the rows that the query itself reads, by statements made from its own tree.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import ColumnProfile, Form, Profile
from tasks.core.models.evidence import Check
from tasks.core.sql.engine import Engine
from tasks.core.sql.forms import is_value, recipe
from tasks.core.sql.names import quote
from tasks.solve.checking.facts import KEYISH
from tasks.solve.mending.dialect import parse
from tasks.solve.mending.forms import PLAIN, Use, chain, conversion, is_cast, loose, turned, uses
from tasks.solve.mending.scopes import Schema, resolved, selects

if TYPE_CHECKING:
    from sqlglot import exp

NAME = "reading of text"
_TOLERANCE = 1e-9
_EXAMPLES = 3
_CHARS = 40


@dataclass(frozen=True)
class _Cast:
    """A cast of the query that may lose values, and the text that it reads."""

    node: exp.Expr
    text: exp.Column
    select: exp.Select
    profile: ColumnProfile | None
    table: str
    tested: bool = False
    """The query leaves out what it cannot read: then only that it reads nothing is to be said."""

    @property
    def form(self) -> Form | None:
        return self.profile.form if self.profile else None


async def audit_casts(engine: Engine, sql: str, profile: Profile) -> tuple[Check, ...]:
    """Checks that failed or have something to note, in the order of the query; none for a query that cannot be read."""
    tree, _ = parse(sql)
    if tree is None:
        return ()
    schema = Schema(profile)
    found = [_misread(use) for use in uses(tree, schema) if use.how != "cast"]
    found += [_loose(column) for column in loose(tree, schema)]
    deadline = time.monotonic() + engine.limits.seconds
    for cast in _casts(tree, schema):
        if made := await _counted(engine, tree, cast, deadline):
            found.append(made)
    found += _readings(tree, schema)
    return tuple(dict.fromkeys(found))


def _misread(use: Use) -> Check:
    what = {"ordered": "its order is that of", "extreme": "its smallest or largest is that of"}
    how = what.get(use.how, "it is compared by its")
    way = f"; convert it: {recipe(use.form)}" if use.form.sql else ""
    example = f" such as {use.form.example!r}" if use.form.example else ""
    detail = f"{use.profile.name} is text{example} ({use.form.says}), and {how} characters, not values{way}"
    return Check(name=NAME, outcome="failed", detail=detail)


def _loose(profile: ColumnProfile) -> Check:
    if profile.form is None:
        how = f"{profile.name} is text of numbers with words ({profile.minimum} to {profile.maximum} in its order)"
        detail = f"{how}, and its order is that of characters: take the number out of it first"
        return Check(name=NAME, outcome="failed" if turned(profile) else "noted", detail=detail)
    read, values = profile.form.read, profile.form.values
    detail = f"{profile.name} is text, {read} of its {values} values are numbers, and its order is that of characters"
    # Numbers beside other texts may be codes, and then their order is their own affair.
    return Check(name=NAME, outcome="noted" if KEYISH.search(profile.name) else "failed", detail=detail)


def _readings(tree: exp.Expr, schema: Schema) -> Iterator[Check]:
    """Columns that the query converts though their values leave two readings: which one it took."""
    from sqlglot import exp

    for cast in tree.find_all(exp.Cast, exp.StrToTime, exp.Anonymous):
        for column in cast.find_all(exp.Column):
            place = resolved(column, schema)
            form = place[1].form if place else None
            if place and form and form.kind == "number" and not form.sql and not _is_told_apart(tree, place[1]):
                detail = f"{place[1].name}: {form.says}, and the query takes the numbers as if all had the same"
                yield Check(name=NAME, outcome="failed", detail=detail)
            if place and form and not form.decided and form.sql:
                grave = "some with" in form.says or (form.kind != "number" and "." not in form.example)
                yield Check(
                    name=NAME, outcome="failed" if grave else "noted", detail=f"{place[1].name}: {form.reading}"
                )


def _is_told_apart(tree: exp.Expr, profile: ColumnProfile) -> bool:
    """Whether the query looks at the text of the column beside its number, as where it brings units to one."""
    from sqlglot import exp

    tests = tree.find_all(
        exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.Case, exp.If, exp.Contains, exp.EndsWith
    )
    return any(
        column.name.casefold() == profile.name.casefold() for node in tests for column in node.find_all(exp.Column)
    )


def _casts(tree: exp.Expr, schema: Schema) -> Iterator[_Cast]:
    """Casts that give NULL where they fail, and casts of columns whose format is known."""
    from sqlglot import exp

    done: set[str] = set()
    for select in selects(tree):
        for node in select.find_all(exp.Cast, exp.StrToTime, exp.Anonymous):
            if node.parent_select is not select or not _converts(node):
                continue
            top = _whole(node)
            columns = {column.sql("duckdb"): column for column in top.find_all(exp.Column)}
            if len(columns) != 1 or top.find(exp.AggFunc, exp.Window, exp.Subquery) or top.sql("duckdb") in done:
                continue
            done.add(top.sql("duckdb"))
            column = next(iter(columns.values()))
            place = resolved(column, schema)
            if place and place[1].type != "VARCHAR":
                continue
            tested = any(isinstance(same.parent, exp.Is) for same in select.find_all(type(top)) if same == top)
            yield _Cast(top, column, select, place[1] if place else None, place[0].name if place else "", tested)


def _converts(node: exp.Expr) -> bool:
    """A cast from text to something else."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous) and node.name.casefold() != "try_strptime":
        return False
    return not (isinstance(node, exp.Cast) and node.to.this in exp.DataType.TEXT_TYPES)


def _whole(node: exp.Expr) -> exp.Expr:
    """The expression that the cast is a part of where it guards itself, or has another one beside it."""
    from sqlglot import exp

    top = node
    while isinstance(top.parent, exp.Case | exp.If | exp.Cast | exp.Mul) or (
        isinstance(top.parent, exp.Coalesce) and len(list(top.parent.find_all(exp.Cast, exp.Anonymous))) > 1
    ):
        columns = {column.sql("duckdb") for column in top.parent.find_all(exp.Column)}
        if len(columns) > 1 or top.parent.find(exp.AggFunc):
            break
        top = top.parent
    return top


async def _counted(engine: Engine, tree: exp.Expr, cast: _Cast, deadline: float) -> Check | None:
    """What the cast loses or reads otherwise, over the rows of its SELECT, or of its table where these cannot be had."""
    text, value = f"CAST({cast.text.sql('duckdb')} AS VARCHAR)", _tried(cast.node)
    present = is_value(text)
    lost = f"{present} AND ({value}) IS NULL"
    other = "false"
    form = cast.form
    if form and form.sql and form.decided and _same_kind(cast.node, form):
        wanted = conversion(cast.text, form).sql("duckdb")
        differs = (
            f"abs(({value}) - ({wanted})) > {_TOLERANCE} * abs({wanted})"
            if form.kind == "number"
            else f"({value}) <> ({wanted})"
        )
        other = f"{present} AND ({value}) IS NOT NULL AND {differs}"
    wanted_examples = f"min(left({text}, {_CHARS}), {_EXAMPLES})"
    head = (
        f"SELECT count_if({present}), count_if({lost}), to_json({wanted_examples} FILTER ({lost})), "
        f"count_if({other}), to_json({wanted_examples} FILTER ({other}))"
    )
    for rows in _scopes(tree, cast):
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            break
        try:
            row = (await engine.measure([rows.format(head=head)], seconds, guarded=True))[0][0]
        except (QueryError, IndexError):
            continue
        return _said(cast, row)
    written = cast.node.sql("duckdb")[:100]
    return Check(name=NAME, outcome="noted", detail=f"how many values {written} cannot read could not be counted")


def _said(cast: _Cast, row: tuple[object, ...]) -> Check | None:
    from json import loads

    values, lost, lost_like, other, other_like = row
    name = cast.text.name
    parts = []
    if lost and not (cast.tested and lost != values):
        shown = ", ".join(map(repr, loads(str(lost_like))))
        parts.append(f"{lost} of {values} values of {name} could not be cast and count as empty, e.g. {shown}")
    if other:
        shown = ", ".join(map(repr, loads(str(other_like))))
        parts.append(
            f"{other} of {values} values of {name} are read otherwise than the column writes them, e.g. {shown}"
        )
    if not parts:
        return None
    way = (
        f" ({cast.form.says}; convert it: {recipe(cast.form)})"
        if cast.form and cast.form.sql and cast.form.read == cast.form.values
        else ""
    )
    return Check(name=NAME, outcome="failed", detail=f"{'; '.join(parts)}{way}")


def _same_kind(node: exp.Expr, form: Form) -> bool:
    """Whether the cast gives what the form gives; a year cut out of a day is another thing."""
    from sqlglot import exp

    column = node.find(exp.Column)
    return column is not None and is_cast(chain(column).parent, form) and form.sql != PLAIN


def _tried(node: exp.Expr) -> str:
    """The expression with every cast giving NULL where it fails."""
    from sqlglot import exp

    def turn(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.StrToTime):
            return exp.Anonymous(this="try_strptime", expressions=[part.this, part.args["format"]])
        if isinstance(part, exp.Cast) and not isinstance(part, exp.TryCast):
            return exp.TryCast(this=part.this, to=part.to)
        return part

    return node.copy().transform(turn).sql("duckdb")


def _scopes(tree: exp.Expr, cast: _Cast) -> Iterator[str]:
    """Statements with a hole for their head: over the rows of the SELECT, then over those of the table."""
    from sqlglot import exp

    select = cast.select
    source = select.args.get("from_")
    if source:
        parts = [source.sql("duckdb"), *(join.sql("duckdb") for join in select.args.get("joins") or [])]
        where = select.args.get("where")
        if where:
            top = where.this
            conditions = list(top.flatten(unnest=False)) if isinstance(top, exp.And) else [top]
            kept = [each.sql("duckdb") for each in conditions if not any(node == cast.node for node in each.walk())]
            parts += [f"WHERE {' AND '.join(kept)}"] * bool(kept)
        inside = {id(cte) for cte in tree.find_all(exp.CTE) if any(node is select for node in cte.walk())}
        ctes = [cte.sql("duckdb") for cte in tree.find_all(exp.CTE, bfs=False) if id(cte) not in inside]
        recursive = "RECURSIVE " if any(w.args.get("recursive") for w in tree.find_all(exp.With)) else ""
        before = f"WITH {recursive}{', '.join(ctes)} " if ctes else ""
        yield f"{_escaped(before)}{{head}} {_escaped(' '.join(parts))}"
    if cast.table:
        alias = f" AS {quote(cast.text.table)}" if cast.text.table else ""
        yield f"{{head}} FROM {_escaped(quote(cast.table) + alias)}"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
