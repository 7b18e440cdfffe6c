"""Columns of a catalogue → what each holds, counted over all rows."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tasks.core.errors import QueryError
from tasks.core.models.value import Cell, Value
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote
from tasks.core.sql.stacked import SMALL_ROWS, stack, stacks

NO_TIME = "no time was left to measure it"
_COMMON = 8
"""Most frequent values kept at least; the search for joins looks them up."""
_CHARS = 200
"""Of one value."""
_SHAPED = 20_000
"""Distinct values whose shape is looked at, chosen by their hash; all of them in most columns."""
_BATCH_ROWS = 1_000_000
_BATCH_STATEMENTS = 200
_BATCH_COLUMNS = 4_000
"""Of small tables, measured in one request."""
_EXACT_SHARE, _LOOSE_SHARE = 0.9, 0.8
"""Share of rows that must have a shape for it to be called the column's."""


@dataclass(frozen=True)
class Wanted:
    """A column to be measured."""

    table: str
    column: str
    type: str
    rows: int


class Facts(Value):
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


class Measured(Value):
    """Facts of columns, none with a problem."""

    columns: tuple[tuple[str, str, Facts], ...] = ()
    """Names of table and column, and what it holds."""


async def measure_columns(engine: Engine, wanted: Sequence[Wanted], examples: int, deadline: float) -> list[Facts]:
    """Facts of each column, in order, small tables first; what the time (`deadline` on the monotonic clock) does
    not allow, or DuckDB cannot, has its reason in `problem`.
    """
    counts = partial(_counts, common=max(examples, _COMMON))
    facts = [_facts(row) for row in await _measured(engine, wanted, counts, deadline)]
    texts = [index for index, one in enumerate(wanted) if _may_have_shape(one, facts[index])]
    shapes = await _measured(engine, [wanted[index] for index in texts], _shapes, deadline)
    for index, row in zip(texts, shapes, strict=True):
        facts[index] = _with_shape(facts[index], row)
    return facts


_Row = tuple[Cell, ...] | str
"""What was measured of a column, empty where it holds nothing; or why nothing was."""
_Statement = Callable[[str, str], str]
"""SQL over the rows (v) of one column; or over rows (k, v) of several, told by the key `k, `: then their rows begin with it."""


async def _measured(engine: Engine, wanted: Sequence[Wanted], statement: _Statement, deadline: float) -> list[_Row]:
    """A row for each column, in order; those of small tables are measured together, unless that fails."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index].rows)
    small = [index for index in order if wanted[index].rows <= SMALL_ROWS]
    found: dict[int, _Row] = {}
    for at in range(0, len(small), _BATCH_COLUMNS):
        some = small[at : at + _BATCH_COLUMNS]
        groups = [*stacks(some, lambda index: wanted[index].type, lambda index: wanted[index].rows)]
        found |= await _together(engine, groups, wanted, (statement, deadline))
    left = [index for index in order if index not in found]
    for batch in batches(left, lambda index: wanted[index].rows):
        alone = [f"SELECT {quote(wanted[i].column)} AS v FROM {quote(wanted[i].table)}" for i in batch]
        rows = await first_rows(engine, [statement(source, "") for source in alone], deadline)
        found |= dict(zip(batch, rows, strict=True))
    return [found[index] for index in range(len(wanted))]


async def _together(
    engine: Engine, groups: Sequence[Sequence[int]], wanted: Sequence[Wanted], how: tuple[_Statement, float]
) -> dict[int, _Row]:
    """Rows by column. A group of which one cannot be measured is left out: each on its own shows which."""
    statement, deadline = how
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return {}
    sources = [stack([(wanted[index].table, wanted[index].column) for index in group]) for group in groups]
    try:
        answers = await engine.measure([statement(source, "k, ") for source in sources], seconds)
    except QueryError:
        apart = [await _together(engine, [group], wanted, how) for group in groups] if len(groups) > 1 else []
        return {index: row for part in apart for index, row in part.items()}
    found: dict[int, _Row] = {index: () for group in groups for index in group}
    for group, rows in zip(groups, answers, strict=True):
        found |= {group[int(row[0] or 0)]: row[1:] for row in rows}
    return found


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


def _counts(source: str, key: str, common: int) -> str:
    return (
        f"SELECT {key}count(*), coalesce(sum(n), 0)::BIGINT, left(min(v)::VARCHAR, {_CHARS}), left(max(v)::VARCHAR, {_CHARS}), "
        f"list_transform(min(struct_pack(a := -n, v := v), {common}), lambda x: left(x.v::VARCHAR, {_CHARS})) "
        f"FROM (SELECT {key}v, count(*) AS n FROM ({source}) WHERE v IS NOT NULL GROUP BY ALL)" + _by(key)
    )


def _by(key: str) -> str:
    return " GROUP BY k" if key else ""


def _facts(found: _Row) -> Facts:
    if isinstance(found, str):
        return Facts(problem=found)
    if not found:
        return Facts()
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


def _shapes(source: str, key: str) -> str:
    upper, lower = "regexp_replace(v, '[A-Z]', 'A', 'g')", "'[a-z]', 'a', 'g'"
    exact = f"regexp_replace(regexp_replace({upper}, {lower}), '[0-9]', 'd', 'g')"
    thousands = "regexp_replace(v, '[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]+)?', chr(1), 'g')"
    runs = f"regexp_replace({thousands}, '[0-9]+(\\.[0-9]+)?', chr(2), 'g')"
    loose = f"replace(replace(regexp_replace({runs}, '[A-Za-z]+', 'a', 'g'), chr(1), '1,234'), chr(2), 'd')"
    sample = "" if key else f" ORDER BY hash(v), v LIMIT {_SHAPED}"  # small tables have no more
    best = f"SELECT {key}min(struct_pack(a := -n, s := s)) AS m FROM"
    return (
        f"WITH g AS (SELECT {key}v, count(*) AS n FROM ({source}) WHERE v IS NOT NULL GROUP BY ALL), "
        f"t AS MATERIALIZED (SELECT {key}left(trim(v), 60) AS v, n FROM g{sample}), "
        f"e AS ({best} (SELECT {key}{exact} AS s, sum(n) AS n FROM t GROUP BY ALL){_by(key)}), "
        f"l AS ({best} (SELECT {key}{loose} AS s, sum(n) AS n FROM t GROUP BY ALL){_by(key)}), "
        f"a AS (SELECT {key}sum(n) AS n FROM t{_by(key)}) "
        f"SELECT {key}e.m.s, (-e.m.a / a.n)::DOUBLE, l.m.s, (-l.m.a / a.n)::DOUBLE FROM "
        + ("e JOIN l USING (k) JOIN a USING (k)" if key else "e, l, a")
    )


def _with_shape(facts: Facts, found: _Row) -> Facts:
    if isinstance(found, str):
        return facts
    exact, exact_share, loose, loose_share = (str(found[0]), float(found[1] or 0), str(found[2]), float(found[3] or 0))
    loose = loose if loose_share >= _LOOSE_SHARE and re.search(r"d|1,234", loose) else ""
    if exact_share >= _EXACT_SHARE and "d" in exact and len(exact) < 60 and "1,234" not in loose:
        return facts.model_copy(update={"shape": exact, "loose": loose})
    return facts.model_copy(update={"shape": loose if len(loose) < 60 else "", "loose": loose})
