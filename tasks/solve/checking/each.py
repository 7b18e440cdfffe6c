"""an average that the question wants per thing → whether the query averages records of which a thing has several, counted on the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.solve.checking import asked
from tasks.solve.checking.facts import KEYISH, Facts
from tasks.solve.checking.measuring import Measuring, whole

if TYPE_CHECKING:
    from sqlglot import exp

_PER = re.compile(
    r"(?i)\b(?:average|mean|avg)\b[^,.;?!]{0,80}?\b(?:per|each|every)\s+([a-z]+)"
    r"|\b(?:per|each|every)\s+([a-z]+)\b[^,.;?!]{0,40}\bon average\b"
    r"|平均每一?[个位名家人只款种件辆间座支所场笔]?([\u3400-\u9fff]{1,4})"
    r"|每一?[个位名家只款种件辆间座支所场笔]?([\u3400-\u9fff]{1,4}?)的?平均"
)
_SHORT = 3
"""Letters from which a name may be short for a word: `emp` for `employee`."""


async def per_thing(facts: Facts, counts: Measuring) -> Check | None:
    """Where a thing has several records, their average is none per thing: its records are put together first, or it is grouped."""
    from sqlglot import exp

    found = _PER.search(facts.question)
    thing = next((part for part in found.groups() if part), "") if found else ""
    if not thing:
        return None
    for node in facts.tree.find_all(exp.Avg):
        select = node.parent_select
        if not isinstance(select, exp.Select) or select.args.get("group") or isinstance(node.parent, exp.Window):
            continue
        for column in _keys(thing, select, facts):
            row = await counts.row(counts.over(select, [f"count({column})", f"count(DISTINCT {column})"]))
            rows, things = (whole(row[0]), whole(row[1])) if row else (0, 0)
            if 1 < things < rows:
                detail = (
                    f"the question asks for an average per {thing}, and {node.sql('duckdb')} is one over {rows} rows of "
                    f"{things} different {column}: group by it, or put its rows together before the average"
                )
                return Check(name="per thing", outcome="failed", detail=detail)
    return None


def _keys(thing: str, select: exp.Select, facts: Facts) -> Iterator[str]:
    """Columns of the SELECT's tables that name the thing, as the query can write them."""
    from sqlglot import exp

    for entry in select.find_all(exp.Table):
        profile = facts.schema.table(entry.name) if entry.parent_select is select else None
        for column in profile.columns if profile else ():
            if (column.type == "VARCHAR" or KEYISH.search(column.name)) and is_of(thing, column.name):
                yield exp.column(column.name, table=entry.alias_or_name, quoted=True).sql("duckdb")


def is_of(thing: str, name: str) -> bool:
    """Whether a column's name says the thing and nothing else, in full or for short."""
    bare = bared(name)
    if not thing.isascii():
        return len(bare) > 1 and (thing.startswith(bare) or bare == thing)
    parts = [
        part for part in re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", bare).casefold()) if part != "name"
    ]
    if len(parts) != 1:
        return False
    part, word = parts[0], thing.casefold()
    return asked.stems(part) == asked.stems(word) != set() or (
        _SHORT <= len(part) < len(word) and part[0] == word[0] and _within(part, word)
    )


def bared(name: str) -> str:
    """A name without what only says that it is a name or number."""
    bare = KEYISH.sub("", name) or name
    return re.sub(r"(?:名称?|姓名)$", "", bare) or bare


def _within(short: str, word: str) -> bool:
    """Whether the letters of one stand in the other, in their order."""
    rest = iter(word)
    return all(letter in rest for letter in short)
