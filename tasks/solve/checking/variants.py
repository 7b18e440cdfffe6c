"""texts that rows are held against → other spellings of them in the same column that the query does not take."""

from __future__ import annotations

import re
from json import loads
from typing import TYPE_CHECKING

from tasks.core.models.evidence import Check
from tasks.core.sql.names import literal, quote
from tasks.core.sql.widths import narrow
from tasks.solve.checking.facts import Comparison, Facts, Place
from tasks.solve.checking.measuring import Measuring, whole

if TYPE_CHECKING:
    from sqlglot import exp

_EXACT = re.compile(r"(?i)\bexact(?:ly)?\b|case[- ]sensitive|区分大小写|完全一致|精确")
_SHOWN = 3


async def variants(facts: Facts, counts: Measuring) -> Check | None:
    """A text is looked for in every spelling of its column: in case, width and blanks, over all values of the table."""
    from sqlglot import exp

    if _EXACT.search(facts.question):
        return None
    folded = {facts.place(node.this) for node in facts.tree.find_all(exp.ILike, exp.RegexpLike, exp.RegexpILike)}
    by_place: dict[Place, list[Comparison]] = {}
    for one in facts.comparisons:
        if one.text and one.sign in ("=", "<>") and one.place and one.place[1].type == "VARCHAR":
            by_place.setdefault(one.place, []).append(one)
    for place, held in by_place.items():
        row = None if place in folded else await counts.row(_missed(place, held))
        if not row or not whole(row[0]):
            continue
        shown = ", ".join(map(repr, loads(str(row[2]))))
        texts = ", ".join(dict.fromkeys(repr(one.value) for one in held))
        detail = (
            f"the query looks for {place[1].name} {texts}, and {row[1]} rows of {place[0].name} write it otherwise: "
            f"{shown}; take them too, e.g. lower(trim({place[1].name})), or say why they are another thing"
        )
        return Check(name="spelling", outcome="noted" if place[1].is_key else "failed", detail=detail)
    return None


def _missed(place: Place, held: list[Comparison]) -> str:
    """Values that are one of the texts when both are folded, and meet none of the conditions."""
    column = quote(place[1].name)
    texts = ", ".join(dict.fromkeys(_folded(literal(one.value)) for one in held))
    met = " OR ".join(dict.fromkeys(f"{_bare(one.subject)} = {literal(one.value)}" for one in held))
    values = f"SELECT {column} AS v, count(*) AS n FROM {quote(place[0].name)} WHERE {column} IS NOT NULL"
    values += f" AND {_folded(column)} IN ({texts}) AND NOT ({met}) GROUP BY 1"
    return f"SELECT count(*), sum(n), to_json(min(v, {_SHOWN})) FROM ({values}) AS missed"


def _folded(text: str) -> str:
    return f"trim(regexp_replace(lower({narrow(text)}), '\\s+', ' ', 'g'))"


def _bare(subject: exp.Expr) -> str:
    """What is compared, its column without the name of its table."""
    from sqlglot import exp

    def turn(node: exp.Expr) -> exp.Expr:
        return exp.column(node.name, quoted=True) if isinstance(node, exp.Column) else node

    return str(subject.copy().transform(turn).sql("duckdb"))
