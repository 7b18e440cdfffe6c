"""one SELECT → its parts for a reader: tables, columns, conditions, order.

Read with sqlglot, for reports and row order only; what a query may do is decided elsewhere, on DuckDB's own parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tasks.core.models.evidence import Outline

_T = TypeVar("_T")
_DIALECT = "duckdb"


def outline(sql: str) -> Outline:
    """The parts of a query; empty, and taken for ordered, when sqlglot cannot read it."""
    tree = _parse(sql)
    if tree is None:
        return Outline()
    names = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
    tables = [
        table for table in tree.find_all(exp.Table) if table.name and (table.db or table.name.casefold() not in names)
    ]
    aliases = {table.alias_or_name.casefold(): table.name for table in tables}
    return Outline(
        tables=_distinct(table.name for table in _in_order(tables, tree)),
        columns=_distinct(_columns(tree, aliases)),
        filters=_distinct(_conditions(tree)),
        groups=_distinct(_sql(key) for group in tree.find_all(exp.Group) for key in group.expressions),
        order=tuple(_sql(key) for key in _order_keys(tree)),
        limit=_limit(tree),
        distinct=any(select.args.get("distinct") for select in tree.find_all(exp.Select)),
        ordered=_is_ordered(tree, {cte.alias_or_name.casefold(): cte.this for cte in tree.find_all(exp.CTE)}),
    )


def pretty(sql: str) -> str:
    """The query over several lines; as written when it has comments or sqlglot cannot read it."""
    tree = _parse(sql)
    if tree is None or any(node.comments for node in tree.walk()):
        return sql.strip()
    return tree.sql(_DIALECT, pretty=True)


def _parse(sql: str) -> exp.Expr | None:
    try:
        tree = sqlglot.parse_one(sql, read=_DIALECT)
    except (SqlglotError, RecursionError):
        return None
    return tree if isinstance(tree, exp.Query) else None


def _sql(node: exp.Expr) -> str:
    return node.sql(_DIALECT)


def _in_order(tables: list[exp.Table], tree: exp.Expr) -> list[exp.Table]:
    """Depth first is the order in which a reader meets them; `find_all` goes by breadth."""
    wanted = {id(table) for table in tables}
    return [node for node in tree.dfs() if isinstance(node, exp.Table) and id(node) in wanted]


def _columns(tree: exp.Expr, aliases: dict[str, str]) -> Iterator[tuple[str, str]]:
    for node in tree.dfs():
        if isinstance(node, exp.Column):
            table = aliases.get(node.table.casefold(), "") if node.table else ""
            yield table, "*" if isinstance(node.this, exp.Star) else node.name
        elif isinstance(node, exp.Star) and isinstance(node.parent, exp.Select):
            read = (source for source in _sources(node.parent) if source in aliases)
            yield from ((aliases[source], "*") for source in read)
        elif isinstance(node, exp.Join):
            yield from (("", key.name) for key in node.args.get("using") or ())


def _sources(select: exp.Select) -> Iterator[str]:
    """Names under which a SELECT itself reads tables, folded."""
    first = select.args.get("from_")
    for node in (first, *(select.args.get("joins") or ())):
        if node is not None and isinstance(node.this, exp.Table):
            yield node.this.alias_or_name.casefold()


def _conditions(tree: exp.Expr) -> Iterator[str]:
    for node in tree.dfs():
        if isinstance(node, exp.Where | exp.Having | exp.Qualify):
            condition = node.this
            parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
            yield from (_sql(part) for part in parts)


def _order_keys(tree: exp.Expr) -> list[exp.Expr]:
    order = tree.args.get("order")
    return list(order.expressions) if order else []


def _limit(tree: exp.Expr) -> str:
    limit = tree.args.get("limit")
    return _sql(limit).strip() if limit else ""


def _is_ordered(tree: exp.Expr, ctes: dict[str, exp.Expr]) -> bool:
    """An ORDER BY at the top, or at the top of the one thing that a plain SELECT reads."""
    if tree.args.get("order"):
        return True
    if isinstance(tree, exp.Subquery):
        return _is_ordered(tree.this, ctes)
    if not isinstance(tree, exp.Select) or any(
        tree.args.get(part) for part in ("joins", "group", "distinct", "having")
    ):
        return False
    source = tree.args.get("from_")
    inner = source.this if source else None
    if isinstance(inner, exp.Subquery):
        return _is_ordered(inner.this, ctes)
    if isinstance(inner, exp.Table) and inner.name.casefold() in ctes:
        rest = {name: body for name, body in ctes.items() if name != inner.name.casefold()}
        return _is_ordered(ctes[inner.name.casefold()], rest)
    return False


def _distinct(items: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))
