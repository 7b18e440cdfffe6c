"""a query over tables drawn from documents → whether it uses a value that the text took back, or cells that nothing proves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.evidence import history
from tasks.core.models.catalogue import Table
from tasks.core.models.evidence import Check
from tasks.core.sql.names import literal, quote
from tasks.solve.checking import asked
from tasks.solve.checking.facts import Facts
from tasks.solve.checking.measuring import Measuring

if TYPE_CHECKING:
    from sqlglot import exp

_SHOWN = 3
_RECORDS = 500
"""Records that one count asks for."""


def taken_back(facts: Facts) -> Check | None:
    """No value in the query is one that a document gave first and corrected later.

    A value that the question says itself is not meant.
    """
    for table in _drawn(facts):
        for old in history.taken_back(table, [column.name for column in table.columns]):
            for node in _written(facts, table, old.column):
                if _same(node.name, old.before) and not _is_asked(node, facts):
                    detail = (
                        f"the query has {node.name}, which {', '.join(table.drawn.paths if table.drawn else ())} gave for "
                        f"{old.column} of {old.record} and then corrected to {old.now or 'nothing'}"
                    )
                    return Check(name="corrected value", outcome="failed", detail=detail)
    return None


async def unproven(facts: Facts, counts: Measuring) -> Check | None:
    """Cells that the query reads follow from the text; those that do not are said, with their records."""
    for table in _drawn(facts):
        read = _columns(facts, table)
        cells = history.doubtful(table, read)
        conditions = {column.name.casefold() for column in _conditions(facts)}
        deciding = [cell for cell in cells if cell.column.casefold() in conditions]
        others = [cell for cell in cells if cell not in deciding]
        inside = await _inside(facts, counts, table, {cell.record for cell in others}) if others else set()
        found = deciding + [cell for cell in others if cell.record in inside]
        if found:
            listed = ", ".join(f"{cell.column} of {cell.record} ({cell.status})" for cell in found[:_SHOWN])
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            detail = f"the answer rests on cells of {table.name} that the text does not prove: {listed}{more}"
            return Check(name="unproven cells", outcome="noted", detail=detail)
    return None


def _drawn(facts: Facts) -> Iterator[Table]:
    """Tables of documents that the query reads; all of them where it reads none and writes its values by hand."""
    read = {profile.name.casefold() for profile in facts.tables}
    for table in facts.drawn:
        if not read or table.name.casefold() in read:
            yield table


def _columns(facts: Facts, table: Table) -> tuple[str, ...]:
    """The table's columns that the query names; all of them for a star."""
    from sqlglot import exp

    names = [column.name for column in table.columns]
    if any(isinstance(node.parent, exp.Select) for node in facts.tree.find_all(exp.Star)):
        return tuple(names)
    places = [facts.place(column) for column in facts.tree.find_all(exp.Column)]
    used = {place[1].name for place in places if place and place[0].name.casefold() == table.name.casefold()}
    return tuple(name for name in names if name in used)


def _conditions(facts: Facts) -> Iterator[exp.Column]:
    from sqlglot import exp

    for part in facts.tree.find_all(exp.Where, exp.Having, exp.Join, exp.Order):
        yield from part.find_all(exp.Column)


def _written(facts: Facts, table: Table, name: str) -> Iterator[exp.Literal]:
    """Literals that stand for a value of the column: compared with it, beside it in an output, or an output alone."""
    from sqlglot import exp

    for compared in facts.comparisons:
        place = compared.place
        if place and (place[0].name.casefold(), place[1].name) == (table.name.casefold(), name):
            yield from compared.node.find_all(exp.Literal)
    for select in facts.tree.find_all(exp.Select):
        for item in select.selects:
            named = {place[1].name for column in item.find_all(exp.Column) if (place := facts.place(column))}
            if name in named or isinstance(item.unalias(), exp.Literal):
                yield from item.find_all(exp.Literal)


def _is_asked(node: exp.Literal, facts: Facts) -> bool:
    """The question says the value itself."""
    if node.is_string:
        return node.name.casefold() in facts.question.casefold()
    return float(node.name) in asked.spoken(facts.question)


def _same(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one.strip().casefold() == other.strip().casefold()


async def _inside(facts: Facts, counts: Measuring, table: Table, records: set[str]) -> set[str]:
    """Those of the records that pass the conditions of the SELECT that reads them; all where that cannot be counted."""
    from sqlglot import exp

    key = table.drawn.key if table.drawn else ""
    some = sorted(records)[:_RECORDS]
    wanted = ", ".join(map(literal, some))
    found: set[str] = set()
    for node in facts.tree.find_all(exp.Table):
        select = node.parent_select
        if node.name.casefold() != table.name.casefold() or not isinstance(select, exp.Select):
            continue
        column = f"CAST({quote(node.alias_or_name)}.{quote(key)} AS VARCHAR)"
        row = await counts.row(
            counts.over(select, [f"string_agg(DISTINCT {column}, chr(31)) FILTER ({column} IN ({wanted}))"])
        )
        if row is None:
            return records
        found |= set(str(row[0]).split("\x1f")) if row[0] is not None else set()
    return found
