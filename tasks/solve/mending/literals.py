"""Question and columns of text → the values that it names; query and values → literals as they are stored.

Every look is one statement of ours over all rows, bounded by the query's time limit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.core.models.catalogue import ColumnProfile, Profile, TableProfile
from tasks.core.search.words import words
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import literal, quote
from tasks.solve.mending.dialect import parse
from tasks.solve.mending.repair import Repair
from tasks.solve.mending.scopes import Schema, column_profile, sources
from tasks.solve.showing.layout import spelled

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST = 60
"""Characters of a value that a question may name."""
_FOUND = 20
"""Values per column."""
_HINTS = 8
_SAME = 4
"""Spellings of one value."""
_YES = ({"y", "yes", "true", "t", "1", "是"}, {"n", "no", "false", "f", "0", "否"})


@dataclass(frozen=True)
class Mention:
    """A value of a column that stands in the question."""

    value: str
    table: str
    column: str

    def line(self) -> str:
        """As the prompt shows it."""
        return f"- {literal(self.value)} is a value of {spelled(self.table)}.{spelled(self.column)}"


async def mentions(engine: Engine, question: str, profile: Profile, shown: Sequence[str]) -> tuple[Mention, ...]:
    """Values of the shown tables that the question names, the longest first; a part of a longer one does not count.

    Raises QueryError when the columns cannot be searched in the time of one query.
    """
    places = [
        (t, c) for t in profile.tables if t.name in shown for c in t.columns if c.type == "VARCHAR" and c.distinct
    ]
    asked = literal(question.casefold())
    statements = [
        f"SELECT DISTINCT {quote(c.name)} FROM {quote(t.name)} WHERE length({quote(c.name)}) BETWEEN 2 AND {_LONGEST} "
        f"AND contains({asked}, lower({quote(c.name)})) ORDER BY length({quote(c.name)}) DESC, 1 LIMIT {_FOUND}"
        for t, c in places
    ]
    found = await engine.measure(statements, engine.limits.seconds) if statements else []
    hits = [Mention(str(row[0]), t.name, c.name) for (t, c), rows in zip(places, found, strict=True) for row in rows]
    hits = [hit for hit in hits if _stands_in(hit.value, question) and words(hit.value)]
    values = {hit.value.casefold() for hit in hits}
    whole = [hit for hit in hits if not any(hit.value.casefold() in value != hit.value.casefold() for value in values)]
    return tuple(sorted(whole, key=lambda hit: -len(hit.value))[:_HINTS])


async def mend_literals(engine: Engine, sql: str, schema: Schema) -> Repair | None:
    """The query with texts that do not occur in their column written as they do; None when there is nothing to mend.

    Raises QueryError when the values cannot be looked up in the time of one query.
    """
    from sqlglot import exp

    tree, _ = parse(sql)
    if tree is None:
        return None
    reasons = []
    for node in list(tree.find_all(exp.EQ, exp.In)):
        for column, text in _compared(node):
            place = column_profile(column, schema)
            if place and place[1].type == "VARCHAR" and (reason := await _mend(engine, column, text, schema)):
                reasons.append(reason)
    return Repair(tree.sql("duckdb"), tuple(reasons)) if reasons else None


async def _mend(engine: Engine, column: exp.Column, text: exp.Literal, schema: Schema) -> str:
    from sqlglot import exp

    place = column_profile(column, schema)
    if place is None:
        return ""
    written = text.name
    if await _spellings(engine, *place, written, exactly=True):
        return ""
    found = await _spellings(engine, *place, written) or _yes_or_no(place[1], written)
    if found:
        others = [exp.Literal.string(value) for value in found]
        if isinstance(text.parent, exp.In):
            text.replace(others)
        elif len(others) == 1:
            text.replace(others[0])
        elif text.parent:
            text.parent.replace(exp.In(this=column.copy(), expressions=others))
        return f"{literal(written)} is stored as {', '.join(map(literal, found))}"
    return await _elsewhere(engine, column, text, schema) if isinstance(text.parent, exp.EQ) else ""


async def _elsewhere(engine: Engine, column: exp.Column, text: exp.Literal, schema: Schema) -> str:
    """The only other column of text that the query reads and that has the value."""
    from sqlglot import exp

    select = column.parent_select
    hits = []
    for source in sources(select, schema) if select else ():
        for other in source.table.columns if source.table and source.position >= 0 else ():
            if other.type == "VARCHAR" and source.table:
                found = await _spellings(engine, source.table, other, text.name)
                hits += [(source.alias, other.name, found[0])] if len(found) == 1 else []
    if len(hits) != 1:
        return ""
    alias, name, value = hits[0]
    before = column.sql("duckdb")
    text.replace(exp.Literal.string(value))
    column.replace(exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias, quoted=True)))
    return f"{literal(value)} is not in {before} but in {alias}.{name}"


async def _spellings(
    engine: Engine, table: TableProfile, column: ColumnProfile, written: str, exactly: bool = False
) -> list[str]:
    """The values that are the written one; or differ from it in case and blanks at the ends alone, few of them."""
    name = quote(column.name)
    same = f"{name} = {literal(written)}" if exactly else f"lower(trim({name})) = lower(trim({literal(written)}))"
    statement = f"SELECT DISTINCT {name} FROM {quote(table.name)} WHERE {same} ORDER BY 1 LIMIT {_SAME + 1}"
    rows = (await engine.measure([statement], engine.limits.seconds))[0]
    return [str(row[0]) for row in rows] if len(rows) <= _SAME else []


def _yes_or_no(column: ColumnProfile, written: str) -> list[str]:
    """The column's own word for yes or no, when it holds little else."""
    if column.distinct > len(_YES) + 1 or len(column.examples) < column.distinct:
        return []
    for group in _YES:
        if written.casefold() in group:
            return [value for value in column.examples if value.casefold() in group]
    return []


def _compared(node: exp.Expr) -> list[tuple[exp.Column, exp.Literal]]:
    """Column and text of a comparison, in either order, or with each text of a list."""
    from sqlglot import exp

    if isinstance(node, exp.In):
        column, others = node.this, node.expressions
    else:
        column, others = (
            (node.this, [node.expression]) if isinstance(node.this, exp.Column) else (node.expression, [node.this])
        )
    if not isinstance(column, exp.Column):
        return []
    return [(column, other) for other in others if isinstance(other, exp.Literal) and other.is_string]


def _stands_in(value: str, question: str) -> bool:
    """Whether the value stands in the question as whole words; Chinese has no bounds of words."""
    text = value.strip().casefold()
    before = r"(?<!\w)" if text[:1].isascii() else ""
    after = r"(?!\w)" if text[-1:].isascii() else ""
    return bool(text) and bool(re.search(before + re.escape(text) + after, question.casefold()))
