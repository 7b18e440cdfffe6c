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
    tree = parse(sql)
    if tree is None:
        return Outline()
    names = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
    tables = [
        table
        for table in tree.find_all(exp.Table)
        if table.name and table.db.casefold() != "metadata" and (table.db or table.name.casefold() not in names)
    ]
    aliases = {table.alias_or_name.casefold(): table.name for table in tables}
    return Outline(
        tables=_distinct(table.name for table in _in_order(tables, tree)),
        columns=_distinct(_columns(tree, aliases)),
        filters=_distinct(_conditions(tree)),
        groups=_distinct(_groups(tree)),
        order=tuple(_order(tree)),
        limit=_limit(tree),
        distinct=any(select.args.get("distinct") for select in tree.find_all(exp.Select)),
        ordered=_is_ordered(tree, {cte.alias_or_name.casefold(): cte.this for cte in tree.find_all(exp.CTE)}),
    )


def pretty(sql: str) -> str:
    """The query over several lines; as written when it has comments or sqlglot cannot read it."""
    tree = parse(sql)
    if tree is None or any(node.comments for node in tree.walk()):
        return sql.strip()
    return tree.sql(_DIALECT, pretty=True)


def parse(sql: str) -> exp.Query | None:
    """The query as a tree; None when sqlglot cannot read it, or it is none."""
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


def _groups(tree: exp.Expr) -> Iterator[str]:
    for group in tree.find_all(exp.Group):
        yield from (_sql(_meant(key, group.parent)) for key in group.expressions)


def _order(tree: exp.Expr) -> Iterator[str]:
    order = tree.args.get("order")
    for key in order.expressions if order else ():
        text = _sql(_meant(key.this, tree)) if isinstance(key, exp.Ordered) else _sql(key)
        yield f"{text} DESC" if key.args.get("desc") else text


def _meant(key: exp.Expr, query: exp.Expr | None) -> exp.Expr:
    """The output column that a position (`ORDER BY 2`) stands for; other keys as they are."""
    outputs = query.selects if isinstance(query, exp.Query) else []
    position = int(key.name) if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit() else 0
    if not 0 < position <= len(outputs):
        return key
    output = outputs[position - 1]
    return exp.to_identifier(output.alias) or output if isinstance(output, exp.Alias) else output


def _limit(tree: exp.Expr) -> str:
    limit = tree.args.get("limit")
    count = limit.args.get("expression") or limit.args.get("count") if limit else None
    return _sql(count) if count else ""


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
