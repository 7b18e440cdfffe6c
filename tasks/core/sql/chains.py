"""A query's tree → for each SELECT, its sources with numbered rows and the joins between them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_DIALECT = "duckdb"


@dataclass(frozen=True)
class Source:
    """A table, CTE or subquery of a FROM clause; `sql` numbers its rows in the column `number`."""

    label: str
    sql: str
    number: str
    problem: str


@dataclass(frozen=True)
class Join:
    """How a source is joined to all before it."""

    kind: str
    """`inner`, `left`, `right`, `full`, `semi`, `anti`, `cross` or `comma`."""
    condition: str
    """`ON …` or `USING (…)`; empty for cross, comma and natural joins."""
    natural: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Chain:
    """One SELECT's sources and the joins between them."""

    mark: str
    """Ends the names that measuring adds. Made from the query, so that no column of the data can bear one of them."""
    ctes: str
    recursive: bool
    sources: tuple[Source, ...]
    joins: tuple[Join, ...]
    where: tuple[str, ...]
    """Conditions that AND connects."""


def chains(sql: str) -> list[Chain]:
    """The chains of a query in the order of its text; only those that join something.

    Raises sqlglot's errors, RecursionError and ValueError for what sqlglot cannot read.
    """
    from sqlglot import exp, parse_one

    tree = parse_one(sql, dialect=_DIALECT)
    mark = hashlib.blake2b(sql.encode(), digest_size=8).hexdigest()
    texts: dict[int, str] = {}
    found = (_chain(select, mark, texts) for select in tree.find_all(exp.Select, bfs=False))
    return [chain for chain in found if chain and chain.joins]


def _chain(select: exp.Select, mark: str, texts: dict[int, str]) -> Chain | None:
    """The sources and joins of a SELECT; None when it has no FROM. `texts` keeps what was written of CTEs."""
    from sqlglot import exp

    clause = select.args.get("from_") or select.args.get("from")
    if clause is None:
        return None
    first, joins = _flat(clause.this, select.args.get("joins") or [])
    nodes = [first, *(join.this for join in joins)]
    where = select.args.get("where")
    top = where.this if where else None
    conditions = list(top.flatten(unnest=False)) if isinstance(top, exp.And) else [top] if top else []
    ctes, recursive = _visible_ctes(select, texts)
    numbers = [f"__row{position}_{mark}" for position in range(len(nodes))]
    return Chain(
        mark=mark,
        ctes=ctes,
        recursive=recursive,
        sources=tuple(map(_source, nodes, numbers, _labels(nodes))),
        joins=tuple(_after_comma(list(map(_join, joins)))),
        where=tuple(map(_sql, conditions)),
    )


def _after_comma(joins: list[Join]) -> Iterator[Join]:
    """A comma binds less than JOIN, which matters to the count only where the right side is kept whole."""
    comma = False
    for join in joins:
        if comma and join.kind in ("right", "full") and not join.problem:
            join = replace(join, problem=f"a {join.kind} join after a comma joins less than it seems")
        comma = comma or join.kind == "comma"
        yield join


def _flat(first: exp.Expr, joins: list[exp.Join]) -> tuple[exp.Expr, list[exp.Join]]:
    """`FROM (a JOIN b …) JOIN c` as one chain; a first source that carries joins itself gives them up."""
    from sqlglot import exp

    inner = first.this if isinstance(first, exp.Subquery) and not first.alias else first
    own = inner.args.get("joins") if isinstance(inner, exp.Table | exp.Subquery) else None
    if not own:
        return first, joins
    bare = inner.copy()
    bare.set("joins", None)
    return _flat(bare, [*own, *joins])


def _source(node: exp.Expr, number: str, label: str) -> Source:
    from sqlglot import exp

    problem = ""
    if not isinstance(node, exp.Table | exp.Subquery):
        problem = f"{type(node).__name__.lower()} depends on the row beside it"
    elif node.args.get("joins") or (isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table)):
        problem = "its right side is a join in brackets"
    elif isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        problem = "a table function is no table"
    if problem:
        return Source(label, "", number, problem)
    alias = exp.to_identifier(node.alias_or_name, quoted=True)
    named = f" AS {_sql(alias)}" if alias and node.alias_or_name else ""
    return Source(label, f"(SELECT *, row_number() OVER () AS {number} FROM {_sql(node)}){named}", number, "")


def _join(join: exp.Join) -> Join:
    side, kind, method = (str(join.args.get(part) or "").upper() for part in ("side", "kind", "method"))
    if method not in ("", "NATURAL"):
        return Join(method.lower(), "", problem=f"{method} joins pair rows by order")
    using = join.args.get("using")
    condition = f"USING ({', '.join(map(_sql, using))})" if using else ""
    if on := join.args.get("on"):
        condition = f"ON {_sql(on)}"
    plain = "INNER" if condition or method else "COMMA"
    name = kind if kind not in ("", "OUTER") else side or plain
    return Join(name.lower(), condition, natural=method == "NATURAL")


def _labels(nodes: Sequence[exp.Expr]) -> list[str]:
    """Names for people: the table's own, with the alias when a table occurs twice."""
    from sqlglot import exp

    tables = [node.name if isinstance(node, exp.Table) else "" for node in nodes]
    labels = []
    for node, table in zip(nodes, tables, strict=True):
        alias = node.alias_or_name
        if not table:
            labels.append(f"subquery {alias}" if alias else "subquery")
        else:
            labels.append(f"{table} ({alias})" if tables.count(table) > 1 and alias != table else table)
    return labels


def _visible_ctes(select: exp.Expr, texts: dict[int, str]) -> tuple[str, bool]:
    """Definitions that the SELECT can name, outermost first, and whether one may be recursive.

    Each is written once for all that can name it: a query of hundreds took minutes else.
    """
    path = list(_ancestors(select))
    found: list[exp.Expr] = []
    recursive = False
    for node in path:
        clause = node.args.get("with_") or node.args.get("with")
        if clause is not None:
            recursive = recursive or bool(clause.args.get("recursive"))
            found = [*takewhile(lambda cte: not any(cte is parent for parent in path), clause.expressions), *found]
    for cte in found:
        if id(cte) not in texts:
            texts[id(cte)] = _sql(cte)
    return ", ".join(texts[id(cte)] for cte in found), recursive


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    current: exp.Expr | None = node
    while current is not None:
        yield current
        current = current.parent


def _sql(node: exp.Expr) -> str:
    return str(node.sql(dialect=_DIALECT))
