"""assignment + query → evidence that was there before the first step: structure, definitions and measured joins of its tables."""

from __future__ import annotations

from collections.abc import Iterable

from tasks.core.evidence import lineage
from tasks.core.evidence.outline import outline
from tasks.core.models.answer import Assignment
from tasks.core.models.catalogue import Table
from tasks.core.models.evidence import Statement, UsedTable
from tasks.core.models.review import Capability, Coverage, EvidenceItem
from tasks.solve.showing.layout import Detail, join_line, spelled, table_lines

_DETAIL = Detail(examples=6, example_chars=60, others="named")
_TABLES, _JOINS = 12, 30
"""Of a query that reads more of them, the first."""


def definitions(given: Assignment, queries: Iterable[str]) -> tuple[EvidenceItem, ...]:
    """One item for each table that the queries read, with what is measured and said of it, and one for its joins."""
    used = {
        use.name: use for sql in queries for use in reversed(lineage.used_tables(outline(sql), sql, given.catalogue))
    }
    found = [_table(given, use, number) for number, use in enumerate(list(used.values())[:_TABLES], 1)]
    joins = [
        join_line(join)
        for join in given.profile.joins
        if {join.left_table, join.right_table} <= set(used) and join.left_table != join.right_table
    ]
    items = [item for item in found if item]
    if joins:
        lines = joins[:_JOINS]
        cover = Coverage(unit="whole") if len(lines) == len(joins) else _of(len(lines), len(joins))
        items.append(_item("joins", ("candidate_relation",), ", ".join(used), lines, cover))
    return tuple(items)


def _of(shown: int, total: int) -> Coverage:
    return Coverage(unit="lines", shown=shown, total=total)


def _table(given: Assignment, use: UsedTable, number: int) -> EvidenceItem | None:
    profile, table = given.profile.table(use.name), given.catalogue.table(use.name)
    if profile is None or table is None:
        return None
    lines = table_lines(profile, _DETAIL, set(use.columns) or None)
    lines += [f"line {said.line} of {said.path}: {said.text}" for said in _said(given, use)]
    lines += list(_drawn(table, use.columns))
    rows = Coverage(unit="rows", shown=table.rows, total=table.rows)
    kinds: tuple[Capability, ...] = ("table_structure", "field_definition")
    return _item(f"table{number}", kinds, table.name, lines, rows)


def _said(given: Assignment, use: UsedTable) -> list[Statement]:
    """What the knowledge says of the columns that the query names in this table."""
    said = lineage.statements((use,), "", given.knowledge, given.catalogue)
    return [statement for statement in said if statement.text.strip()]


def _drawn(table: Table, columns: tuple[str, ...]) -> Iterable[str]:
    """How far the cells of a table that was drawn from a document can be believed."""
    if table.drawn is None:
        return
    yield f"drawn from {', '.join(table.drawn.paths)}: {table.drawn.records} records, key {spelled(table.drawn.key)}"
    for column in table.drawn.columns:
        counts = column.model_dump(include={"verified", "derived", "unverified", "conflict", "missing"})
        if column.name in columns:
            yield f"cells of {spelled(column.name)}: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n)


def _item(name: str, kinds: tuple[Capability, ...], source: str, lines: list[str], coverage: Coverage) -> EvidenceItem:
    return EvidenceItem(
        id=f"step_0:call_{name}",
        trace_step_index=0,
        tool_call_id=f"call_{name}",
        tool="profile",
        capabilities=kinds,
        source=source,
        request={"tables": source},
        status="complete",
        locator="measured over all rows",
        coverage=coverage,
        excerpt="\n".join(lines),
        pinned=True,
    )
