"""Terms + columns with too many values for the index → values in them that the question names, by a look through the tables.

The tables that the question seems to mean come first, for the time is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from tasks.core.errors import QueryError
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.context import Hit, Terms
from tasks.core.search.words import fold, is_cjk
from tasks.core.sections import QuerySettings, RecallSettings
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import literal, quote
from tasks.core.sql.widths import narrow
from tasks.solve.indexing.distinct import TextColumn, text_columns
from tasks.solve.recalling.values import grade, pieces

_KEPT = 3
"""Values of one column."""
_TERM_SIGNS = {True: 2, False: 4}
"""Shortest term that is looked for inside of values: in Chinese, in other scripts."""
_SHOWN = 3


async def scan_values(
    catalogue: Catalogue,
    terms: Terms,
    unindexed: Collection[str],
    likely: Sequence[str],
    bounds: tuple[RecallSettings, QuerySettings],
) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """Hits, and what was not looked through; `likely` are ids of columns that were found, best first."""
    settings, limits = bounds
    columns = _in_order([column for column in text_columns(catalogue) if column.id in set(unindexed)], likely)
    if not columns:
        return (), ()
    deadline = time.monotonic() + settings.scan_seconds
    found: list[Hit] = []
    missed: list[str] = []
    async with Engine.over(catalogue, limits) as engine:
        for column in columns:
            seconds = deadline - time.monotonic()
            try:
                if seconds <= 0:
                    raise QueryError("the time was over")
                (rows,) = await engine.measure([_statement(column, terms)], seconds)
            except QueryError:
                missed.append(column.id)
                continue
            found += [_hit(column, str(value), bool(whole), terms) for value, whole in rows]
    problems: tuple[str, ...] = ()
    if missed:
        named = ", ".join(missed[:_SHOWN]) + " …" * (len(missed) > _SHOWN)
        seen = f"{len(missed)} of {len(columns)} columns with more than {settings.value_cap:,} values"
        return tuple(found), (f"{seen} were not looked through within {settings.scan_seconds:g} s: {named}",)
    return tuple(found), problems


def _in_order(columns: Sequence[TextColumn], likely: Sequence[str]) -> list[TextColumn]:
    """Columns that were found first, then others of their tables, then small tables."""
    place = {id: at for at, id in enumerate(likely)}
    tables: dict[str, int] = {}
    for at, id in enumerate(likely):
        tables.setdefault(id.rpartition(".")[0], at)
    last = len(likely)
    return sorted(columns, key=lambda c: (place.get(c.id, last), tables.get(c.table, last), c.rows))


def _statement(column: TextColumn, terms: Terms) -> str:
    name = quote(column.name)
    folded = f"lower(trim({narrow(name)}))"
    whole = f"f IN ({', '.join(literal(piece) for piece in pieces(terms)) or 'NULL'})"
    parts = [f"contains(f, {literal(term)})" for term in _terms(terms)]
    return (
        f"SELECT v, bool_or(whole) FROM (SELECT left({name}, 200) AS v, {folded} AS f, {whole} AS whole "
        f"FROM {quote(column.table)} WHERE {name} <> '' AND ({' OR '.join(['whole', *parts])})) "
        f"GROUP BY v ORDER BY 2 DESC, length(v), v LIMIT {_KEPT}"
    )


def _terms(terms: Terms) -> list[str]:
    said = (fold(term) for term in (*terms.keywords, *terms.values) if term != terms.question)
    return [term for term in dict.fromkeys(said) if len(term) >= _TERM_SIGNS[is_cjk(term[0])]]


def _hit(column: TextColumn, value: str, whole: bool, terms: Terms) -> Hit:
    if whole:
        texts = pieces(terms)
        score, reason = grade(value, texts.get(fold(value), terms.question))
        return Hit(id=column.id, value=value, score=score, why="scan", reason=reason)
    term = max((term for term in _terms(terms) if term in fold(value)), key=len, default="")
    return Hit(
        id=column.id,
        value=value,
        score=len(term) / (1 + len(value)),
        why="scan",
        reason=f"{value[:60]!r} holds {term!r}",
    )
