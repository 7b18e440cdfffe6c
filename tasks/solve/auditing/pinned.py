"""assignment + query → evidence that was there before the first step: structure, definitions and measured joins of its tables."""

from __future__ import annotations

from collections.abc import Iterable

from tasks.core.evidence import lineage
from tasks.core.evidence.outline import outline
from tasks.core.evidence.trajectory import locator
from tasks.core.llm.tokens import count
from tasks.core.models.answer import Assignment
from tasks.core.models.catalogue import Table
from tasks.core.models.evidence import Statement, UsedTable
from tasks.core.models.review import Capability, Coverage, EvidenceItem
from tasks.core.search.words import words
from tasks.solve.showing.layout import Detail, join_line, one_line, spelled, table_lines

_DETAIL = Detail(examples=6, example_chars=60, others="named")
_TABLES, _JOINS = 12, 30
"""Of a query that reads more of them, the first."""
_NARROW = 16
"""Columns of a table that is described whole: the validator sees what else the query might have read in it."""
_OTHERS_TOKENS, _OTHER_CHARS = 2000, 400
"""Room for what else there is, and signs of one table in it."""


def definitions(given: Assignment, queries: Iterable[str], tokens: int) -> tuple[EvidenceItem, ...]:
    """One item for each table that the queries read, with what is measured and said of it; its joins; what else there is.

    `tokens` bound each of them.
    """
    used: dict[str, UsedTable] = {}
    for sql in queries:
        for use in lineage.used_tables(outline(sql), sql, given.catalogue):
            known = used.get(use.name, use)
            columns = tuple(dict.fromkeys((*known.columns, *use.columns)))
            used[use.name] = known.model_copy(update={"columns": columns})
    shown = list(used.values())[:_TABLES]
    found = [_table(given, use, number, tokens) for number, use in enumerate(shown, 1)]
    joins = [
        join_line(join)
        for join in given.profile.joins
        if {join.left_table, join.right_table} <= set(used) and join.left_table != join.right_table
    ]
    found.append(_listed("joins", ("candidate_relation",), ", ".join(used), within(joins[:_JOINS], tokens), len(joins)))
    found.append(_others(given, {use.name for use in shown}, min(tokens, _OTHERS_TOKENS)))
    return tuple(item for item in found if item)


def _others(given: Assignment, used: set[str], tokens: int) -> EvidenceItem | None:
    """Tables that are not read, with their columns: those that share most words with the question first."""
    asked = words(given.question.text)
    lines = []
    for table in given.profile.tables:
        if table.name in used:
            continue
        columns = ", ".join(spelled(column.name) for column in table.columns)
        about = f" ({table.about})" if table.about else ""
        line = one_line(f"{spelled(table.name)}, {table.rows} rows{about}: {columns}", _OTHER_CHARS)
        lines.append((-len(asked & words(line)), line))
    ordered = [line for _, line in sorted(lines, key=lambda pair: pair[0])]
    return _listed("others", ("source_discovery",), "catalogue", within(ordered, tokens), len(ordered))


def _listed(name: str, kinds: tuple[Capability, ...], source: str, lines: list[str], total: int) -> EvidenceItem | None:
    """An item of so many of `total` lines; None without any."""
    if not lines:
        return None
    whole = len(lines) == total
    cover = Coverage(unit="whole") if whole else Coverage(unit="lines", shown=len(lines), total=total)
    return _item(name, kinds, source, lines, cover)


def _table(given: Assignment, use: UsedTable, number: int, tokens: int) -> EvidenceItem | None:
    profile, table = given.profile.table(use.name), given.catalogue.table(use.name)
    if profile is None or table is None:
        return None
    is_narrow = len(profile.columns) <= _NARROW
    described = table_lines(profile, _DETAIL, None if is_narrow or not use.columns else set(use.columns))
    described += [f"line {said.line} of {said.path}: {said.text}" for said in _said(given, use)]
    described += list(_drawn(table, use.columns))
    lines = within(described, tokens)
    cut = len(lines) < len(described)
    rows = Coverage(unit="rows", shown=table.rows, total=table.rows, cut=cut)
    kinds: tuple[Capability, ...] = ("table_structure", "field_definition")
    return _item(f"table{number}", kinds, table.name, lines + ["… (more left out here)"] * cut, rows)


def within(lines: list[str], tokens: int) -> list[str]:
    """The first lines, as many as fit into so many tokens; one at least."""
    kept: list[str] = []
    for line in lines:
        tokens -= count(line) + 1
        if tokens < 0 and kept:
            break
        kept.append(line)
    return kept


def told_within(lines: list[str], tokens: int) -> list[str]:
    """The same, and how many are left out."""
    kept = within(lines, tokens)
    return [*kept, f"… ({len(lines) - len(kept)} more left out here)"] if len(kept) < len(lines) else kept


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
        status="complete" if coverage.unit != "lines" and not coverage.cut else "partial",
        locator="measured over all rows" if coverage.unit == "rows" else locator(coverage),
        coverage=coverage,
        excerpt="\n".join(lines),
        pinned=True,
    )
