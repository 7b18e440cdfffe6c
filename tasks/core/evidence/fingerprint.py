"""question + contract + query → what an approval is bound to, and apart from it what is display alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from sqlglot import exp

from tasks.core.evidence.outline import parse
from tasks.core.models.answer import Contract, Question

_DIALECT = "duckdb"
_DRESS = (exp.Alias, exp.Paren, exp.Round, exp.Cast)
"""What may stand around an output without changing what it measures."""


def fingerprint(question: Question, contract: Contract, sql: str, program: str = "") -> str:
    """Digest of question, contract, sources, filters, joins, grain and measures.

    Names, order and rounding of outputs, outputs that are plain columns, aliases, the order of conditions, and row order
    without a LIMIT do not enter. What sqlglot cannot read enters as written.
    """
    asked = contract.model_dump(
        mode="json", include={"columns", "grain", "filters", "nulls", "duplicates", "limit", "ties"}
    )
    return _digest([question.text, question.as_of.isoformat(), asked, _meaning(sql), program.strip()])


def shape(sql: str, columns: Sequence[str]) -> str:
    """Digest of what the fingerprint leaves out: outputs with order and names, row order and limit."""
    tree = parse(sql)
    if tree is None:
        return _digest([list(columns), sql.strip()])
    outputs = [_sql(output) for output in tree.selects]
    tail = [_sql(tree.args[part]) for part in ("order", "limit", "offset") if tree.args.get(part)]
    return _digest([list(columns), outputs, tail])


def _meaning(sql: str) -> list[str]:
    tree = parse(sql)
    if tree is None:
        return [sql.strip()]
    tree = _named(tree.copy())
    for node in list(tree.find_all(exp.And, exp.Or)):
        if not isinstance(node.parent, type(node)):
            node.replace(_sorted(node))
    if not isinstance(tree, exp.Select):
        if not tree.args.get("limit"):
            tree.set("order", None)
        return [_sql(tree)]
    outputs = {output.alias.casefold(): output.this for output in tree.selects if isinstance(output, exp.Alias)}
    for column in [c for c in _of_order(tree) if not c.table and c.name.casefold() in outputs]:
        column.replace(outputs[column.name.casefold()].copy())
    bare = [_bare(output) for output in tree.selects]
    grain = tree.args.get("distinct")
    kept = sorted({_sql(output) for output in bare if grain or not isinstance(output, exp.Column | exp.Star)})
    if not tree.args.get("limit"):
        tree.set("order", None)
    tree.set("expressions", [])
    return [*kept, _sql(tree)]


def _named(tree: exp.Query) -> exp.Query:
    """The query with each table under its own name, numbered where it occurs twice, and all names folded."""
    for name in tree.find_all(exp.Identifier):
        name.set("this", name.name.casefold())
        name.set("quoted", False)
    seen: dict[str, int] = {}
    for select in list(tree.find_all(exp.Select, bfs=False)):
        for table in [node for node in select.find_all(exp.Table) if node.parent_select is select]:
            old, count = table.alias_or_name, seen.get(table.name, 0)
            seen[table.name] = count + 1
            new = f"{table.name}_{count}"
            for column in select.find_all(exp.Column):
                if column.table == old:
                    column.set("table", exp.to_identifier(new))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(new)))
    return tree


def _sorted(node: exp.Expr) -> exp.Expr:
    parts = sorted(node.flatten(unnest=False), key=_sql)
    join = exp.and_ if isinstance(node, exp.And) else exp.or_
    return join(*(part.copy() for part in parts))


def _of_order(tree: exp.Select) -> Iterator[exp.Column]:
    order = tree.args.get("order")
    yield from list(order.find_all(exp.Column)) if order else ()


def _bare(output: exp.Expr) -> exp.Expr:
    while isinstance(output, _DRESS):
        output = output.this
    return output


def _sql(node: exp.Expr) -> str:
    return node.sql(_DIALECT, comments=False)


def _digest(parts: object) -> str:
    return hashlib.blake2b(json.dumps(parts, ensure_ascii=False).encode(), digest_size=16).hexdigest()
