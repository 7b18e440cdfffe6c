"""Columns of a catalogue → what each holds, counted over all rows."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tasks.core.errors import QueryError
from tasks.core.models.value import Cell
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote

NO_TIME = "no time was left to measure it"
_COMMON = 8
"""Most frequent values kept at least; the search for joins looks them up."""
_CHARS = 200
"""Of one value."""
_SHAPED = 20_000
"""Distinct values whose shape is looked at, chosen by their hash; all of them in most columns."""
_BATCH_ROWS = 1_000_000
_BATCH_STATEMENTS = 200
_SMALL_ROWS, _TOGETHER = 5_000, 16
"""Columns of tables so small are measured so many in one statement: starting it costs more than running it."""
_EXACT_SHARE, _LOOSE_SHARE = 0.9, 0.8
"""Share of rows that must have a shape for it to be called the column's."""


@dataclass(frozen=True)
class Wanted:
    """A column to be measured."""

    table: str
    column: str
    type: str
    rows: int


@dataclass(frozen=True)
class Facts:
    """What a column holds. With a `problem`, the rest says nothing."""

    filled: int = 0
    """Rows that are not NULL."""
    distinct: int = 0
    minimum: str | None = None
    maximum: str | None = None
    common: tuple[str, ...] = ()
    """Most frequent values, then in value order; cut at 200 characters."""
    shape: str = ""
    """Digits as `d`: each (`dddd-dd-dd`) where lengths agree, else runs (`d%`, `a-d`, `1,234`); letters as `A` and `a`."""
    loose: str = ""
    """The shape in runs, whatever `shape` is."""
    problem: str = ""


async def measure_columns(engine: Engine, wanted: Sequence[Wanted], examples: int, deadline: float) -> list[Facts]:
    """Facts of each column, in order, small tables first; what the time (`deadline` on the monotonic clock) does
    not allow, or DuckDB cannot, has its reason in `problem`.
    """
    facts = [Facts(problem=NO_TIME) for _ in wanted]
    order = sorted(range(len(wanted)), key=lambda index: wanted[index].rows)
    for batch in batches(order, lambda index: wanted[index].rows):
        statements = [_statement(wanted[index], max(examples, _COMMON)) for index in batch]
        rows = await _rows_of(engine, statements, [wanted[index] for index in batch], deadline)
        for index, found in zip(batch, rows, strict=True):
            facts[index] = _facts(found)
    texts = [index for index in order if _may_have_shape(wanted[index], facts[index])]
    for batch in batches(texts, lambda index: wanted[index].rows):
        statements = [_shape_statement(wanted[index]) for index in batch]
        rows = await _rows_of(engine, statements, [wanted[index] for index in batch], deadline)
        for index, found in zip(batch, rows, strict=True):
            facts[index] = _with_shape(facts[index], found)
    return facts


async def _rows_of(
    engine: Engine, statements: Sequence[str], wanted: Sequence[Wanted], deadline: float
) -> list[tuple[Cell, ...] | str]:
    """As `first_rows`; those of small tables are put together, unless that fails."""
    small = sum(one.rows <= _SMALL_ROWS for one in wanted)  # they come first
    groups = [statements[at : min(at + _TOGETHER, small)] for at in range(0, small, _TOGETHER)]
    joined = [" UNION ALL ".join(f"SELECT {at}, * FROM ({one})" for at, one in enumerate(group)) for group in groups]
    found: list[tuple[Cell, ...] | str] = []
    seconds = deadline - time.monotonic()
    if joined and seconds > 0:
        try:
            answers = await engine.measure(joined, seconds)
            found = [row[1:] for rows in answers for row in sorted(rows, key=lambda row: int(row[0] or 0))]
        except QueryError:
            found = []  # one of them cannot be measured: each on its own shows which
    found = found if len(found) == small else []
    left = statements[len(found) :]
    return found + (await first_rows(engine, left, deadline) if left else [])


async def first_rows(engine: Engine, statements: Sequence[str], deadline: float) -> list[tuple[Cell, ...] | str]:
    """The first row of each of our own statements, or why there is none; `deadline` on the monotonic clock.

    What fails together is asked again one by one, so that a bad statement costs only itself.
    """
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return [NO_TIME] * len(statements)
    try:
        return [rows[0] for rows in await engine.measure(list(statements), seconds)]
    except QueryError as error:
        if len(statements) == 1 or time.monotonic() >= deadline:
            return [NO_TIME if time.monotonic() >= deadline else error.message] * len(statements)
    return [(await first_rows(engine, [statement], deadline))[0] for statement in statements]


def batches(order: Iterable[int], rows: Callable[[int], int]) -> Iterator[list[int]]:
    """Indices in portions that one request measures in about a second; `rows` are those that an index reads."""
    batch: list[int] = []
    total = 0
    for index in order:
        if batch and (total + rows(index) > _BATCH_ROWS or len(batch) == _BATCH_STATEMENTS):
            yield batch
            batch, total = [], 0
        batch.append(index)
        total += rows(index)
    if batch:
        yield batch


def _statement(wanted: Wanted, common: int) -> str:
    column = quote(wanted.column)
    return (
        f"SELECT count(*), coalesce(sum(n), 0)::BIGINT, left(min(v)::VARCHAR, {_CHARS}), left(max(v)::VARCHAR, {_CHARS}), "
        f"list_transform(min(struct_pack(a := -n, v := v), {common}), lambda x: left(x.v::VARCHAR, {_CHARS})) "
        f"FROM (SELECT {column} AS v, count(*) AS n FROM {quote(wanted.table)} WHERE {column} IS NOT NULL GROUP BY 1)"
    )


def _facts(found: tuple[Cell, ...] | str) -> Facts:
    if isinstance(found, str):
        return Facts(problem=found)
    distinct, filled, minimum, maximum, common = found
    return Facts(
        filled=int(filled or 0),
        distinct=int(distinct or 0),
        minimum=None if minimum is None else str(minimum),
        maximum=None if maximum is None else str(maximum),
        common=tuple(json.loads(str(common))) if common is not None else (),
    )


def _may_have_shape(wanted: Wanted, facts: Facts) -> bool:
    text = wanted.type == "VARCHAR" and not facts.problem
    return text and any(re.search(r"[0-9]", value) and len(value) <= 60 for value in facts.common)


def _shape_statement(wanted: Wanted) -> str:
    column = quote(wanted.column)
    upper, lower = "regexp_replace(v, '[A-Z]', 'A', 'g')", "'[a-z]', 'a', 'g'"
    exact = f"regexp_replace(regexp_replace({upper}, {lower}), '[0-9]', 'd', 'g')"
    thousands = "regexp_replace(v, '[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]+)?', chr(1), 'g')"
    runs = f"regexp_replace({thousands}, '[0-9]+(\\.[0-9]+)?', chr(2), 'g')"
    loose = f"replace(replace(regexp_replace({runs}, '[A-Za-z]+', 'a', 'g'), chr(1), '1,234'), chr(2), 'd')"
    return (
        f"WITH g AS (SELECT {column} AS c, count(*) AS n FROM {quote(wanted.table)} WHERE {column} IS NOT NULL GROUP BY 1), "
        f"k AS MATERIALIZED (SELECT left(trim(c), 60) AS v, n FROM g ORDER BY hash(c), c LIMIT {_SHAPED}), "
        f"e AS (SELECT {exact} AS s, sum(n) AS n FROM k GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1), "
        f"l AS (SELECT {loose} AS s, sum(n) AS n FROM k GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1), "
        f"a AS (SELECT sum(n) AS n FROM k) "
        f"SELECT e.s, (e.n / a.n)::DOUBLE, l.s, (l.n / a.n)::DOUBLE FROM e, l, a"
    )


def _with_shape(facts: Facts, found: tuple[Cell, ...] | str) -> Facts:
    if isinstance(found, str):
        return facts
    exact, exact_share, loose, loose_share = (str(found[0]), float(found[1] or 0), str(found[2]), float(found[3] or 0))
    loose = loose if loose_share >= _LOOSE_SHARE and re.search(r"d|1,234", loose) else ""
    if exact_share >= _EXACT_SHARE and "d" in exact and len(exact) < 60 and "1,234" not in loose:
        return replace(facts, shape=exact, loose=loose)
    return replace(facts, shape=loose if len(loose) < 60 else "", loose=loose)
