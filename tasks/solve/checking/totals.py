"""tables that the query aggregates → a row of them that sums up the others and is counted with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile, TableProfile
from tasks.core.models.evidence import Check
from tasks.core.sql.names import quote
from tasks.solve.checking.facts import KEYISH, Facts
from tasks.solve.checking.measuring import Measuring, whole

if TYPE_CHECKING:
    from sqlglot import exp

_LABELS = (
    "total", "totals", "sum", "grand total", "overall total", "subtotal", "sub-total", "sub total", "gesamt", "summe",
    "gesamtsumme", "insgesamt", "zwischensumme", "合计", "总计", "小计", "共计", "合 计", "总 计", "小 计",
)  # fmt: skip
_COLUMNS = 60
"""Columns of a table that are looked into."""
_ROUNDING = 1e-3
"""How far a sum may lie from the sum of the rows, as a share of it."""


async def totals(facts: Facts, counts: Measuring) -> Check | None:
    """No row that sums up the others, and says so in its label, is aggregated with them."""
    if any(text in _LABELS for text in _texts(facts.tree)):
        return None
    known: dict[str, list[ColumnProfile]] = {}
    for select, entry, table in _aggregated(facts):
        if table.name not in known:
            known[table.name] = await _labels(table, counts)
        for label in known[table.name]:
            is_total = _is_total(f"{quote(entry.alias_or_name)}.{quote(label.name)}")
            outputs = [f"count_if({is_total} AND ({_counted(select)}))", f"count_if(NOT {is_total})"]
            row = await counts.row(counts.over(select, outputs))
            if not row or not whole(row[0]) or not whole(row[1]):
                continue
            shown = await counts.row(
                f"SELECT {quote(label.name)} FROM {quote(table.name)} WHERE {_is_total(quote(label.name))} LIMIT 1"
            )
            detail = (
                f"{table.name} has a row whose {label.name} is {str(shown[0] if shown else 'a total')!r}, which sums up the "
                "others, and the query counts it with them: leave it out"
            )
            return Check(name="total row", outcome="failed", detail=detail)
    return None


def _texts(tree: exp.Expr) -> Iterator[str]:
    from sqlglot import exp

    yield from (node.name.strip(" :：").casefold() for node in tree.find_all(exp.Literal) if node.is_string)


def _is_total(column: str) -> str:
    listed = ", ".join(f"'{label}'" for label in _LABELS)
    return f"coalesce(lower(trim({column}, ' \u3000:：')) IN ({listed}), false)"


def _aggregated(facts: Facts) -> Iterator[tuple[exp.Select, exp.Table, TableProfile]]:
    """SELECTs whose rows are aggregated, there or around them, with each table in their FROM."""
    from sqlglot import exp

    for select in facts.tree.find_all(exp.Select):
        if not any(map(_is_aggregate, _around(select))):
            continue
        source = select.args.get("from_")
        entries = [source.this] if source else []
        for entry in [*entries, *(join.this for join in select.args.get("joins") or [])]:
            table = facts.schema.table(entry.name) if isinstance(entry, exp.Table) else None
            if table:
                yield select, entry, table


def _around(select: exp.Select) -> Iterator[exp.Select]:
    """The SELECT, and those that read its rows in their FROM or as a CTE."""
    from sqlglot import exp

    node: exp.Expr | None = select
    while node is not None:
        if isinstance(node, exp.Select):
            yield node
        if isinstance(node, exp.In | exp.Exists | exp.Where | exp.Having):
            return
        node = node.parent


def _is_aggregate(select: exp.Select) -> bool:
    """It sums, counts or averages, or takes the first of an order from the largest down; the smallest is no total."""
    order = select.args.get("order")
    largest = bool(order and select.args.get("limit") and order.expressions[0].args.get("desc"))
    return largest or any(True for _ in _functions(select))


def _functions(select: exp.Select) -> Iterator[exp.Expr]:
    from sqlglot import exp

    for node in select.find_all(exp.AggFunc):
        if node.parent_select is select and not isinstance(node, exp.Min | exp.ArgMin):
            yield node


def _counted(select: exp.Select) -> str:
    """Whether a row has a value for one of the functions; a row without one changes nothing."""
    from sqlglot import exp

    tests = []
    for node in _functions(select):
        value = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        plain = isinstance(value, exp.Expr) and not isinstance(value, exp.Star) and value.find(exp.Column)
        tests.append(f"({value.sql('duckdb')}) IS NOT NULL" if plain else "true")
    return " OR ".join(dict.fromkeys(tests)) or "true"


async def _labels(table: TableProfile, counts: Measuring) -> list[ColumnProfile]:
    """Columns of text with the label of a total in a row that is one: a sum of the other rows, or empty beside the label."""
    texts = [column for column in table.columns[:_COLUMNS] if column.type == "VARCHAR"]
    if not texts:
        return []
    outputs = ", ".join(f"count_if({_is_total(quote(column.name))})" for column in texts)
    row = await counts.row(f"SELECT {outputs} FROM {quote(table.name)}")
    labelled = [column for column, count in zip(texts, row or (), strict=False) if whole(count)]
    return [column for column in labelled if await _is_sum(table, column, counts)]


async def _is_sum(table: TableProfile, label: ColumnProfile, counts: Measuring) -> bool:
    total = _is_total(quote(label.name))
    others = [column for column in table.columns[:_COLUMNS] if column.name != label.name]
    tests = [_sums(column, total) for column in others]
    keys = [column for column in others if column.type == "VARCHAR" or KEYISH.search(column.name)]
    if keys:
        tests.append(" AND ".join(_is_empty(column, total) for column in keys))
    row = (
        await counts.row(f"SELECT {' OR '.join(f'({test})' for test in tests)} FROM {quote(table.name)}")
        if tests
        else None
    )
    return bool(row and row[0])


def _sums(column: ColumnProfile, total: str) -> str:
    value = f"TRY_CAST(replace(CAST({quote(column.name)} AS VARCHAR), ',', '') AS DOUBLE)"
    parts, enough = f"sum({value}) FILTER (NOT {total})", f"count({value}) FILTER (NOT {total}) > 1"
    # All such rows together, as where each group has one; or the largest, where subtotals stand beside the total.
    near = [f"abs({how}({value}) FILTER ({total}) - {parts}) <= {_ROUNDING} * abs({parts})" for how in ("sum", "max")]
    return f"coalesce({enough} AND {parts} <> 0 AND ({' OR '.join(near)}), false)"


def _is_empty(column: ColumnProfile, total: str) -> str:
    """Empty in rows with the label alone."""
    filled = f"coalesce(trim(CAST({quote(column.name)} AS VARCHAR)), '') NOT IN ('', '-')"
    return f"count_if({total} AND {filled}) = 0 AND count_if(NOT {total} AND {filled}) * 2 > count_if(NOT {total})"
