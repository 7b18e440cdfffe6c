"""one SELECT + a table with a key → the same SELECT with each row's key behind it, where that is sound.

It is where a row of the answer is one row of the table: a plain SELECT that names the table once and neither groups,
removes duplicates, aggregates nor combines results.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tasks.core.evidence.outline import parse
from tasks.core.models.catalogue import Catalogue, Table

_DIALECT = "duckdb"
KEY = "tablewright_record"


@dataclass(frozen=True)
class Taken:
    """A query whose last column is the record, and the columns that the answer takes over from the table."""

    sql: str
    columns: dict[int, str]
    """Position in the answer → column of the table."""


def keyed(sql: str, table: Table, catalogue: Catalogue) -> Taken | None:
    """The query with the table's key as its last column; None where a row of the answer is not one of the table."""
    select = _plain(sql)
    if select is None or not table.drawn:
        return None
    tables = list(select.find_all(exp.Table))
    own = [each for each in tables if each.name.casefold() == table.name.casefold()]
    direct = {id(each) for each in _sources(select)}
    if len(own) != 1 or any(id(each) not in direct for each in tables):
        return None
    alias = own[0].alias_or_name
    others = [catalogue.table(each.name) for each in tables if each is not own[0]]
    if not all(others):
        return None
    names = {column.name.casefold(): column.name for column in table.columns}
    elsewhere = {column.name.casefold() for other in others if other for column in other.columns}
    columns: dict[int, str] = {}
    for at, output in enumerate(select.selects):
        inner = output.this if isinstance(output, exp.Alias) else output
        if not isinstance(inner, exp.Column) or isinstance(inner.this, exp.Star):
            continue
        name = inner.name.casefold()
        if name in names and (
            inner.table.casefold() == alias.casefold() or (not inner.table and name not in elsewhere)
        ):
            columns[at] = names[name]
    if not columns:
        return None
    key = exp.alias_(exp.column(table.drawn.key, table=alias, quoted=True), KEY)
    return Taken(select.select(key, append=True, copy=True).sql(_DIALECT), columns)


def _plain(sql: str) -> exp.Select | None:
    """The SELECT, when each of its rows is one combination of rows of its tables, and every output is named in it."""
    tree = parse(sql)
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("group", "distinct", "having", "with_")
    ):
        return None
    if any(tree.find_all(exp.AggFunc, exp.Union, exp.Subquery, exp.Star, exp.Unnest, exp.Explode, exp.CTE)):
        return None
    return tree


def _sources(select: exp.Select) -> list[exp.Expr]:
    first = select.args.get("from_")
    joins = [join.this for join in select.args.get("joins") or ()]
    return [first.this, *joins] if first else []
