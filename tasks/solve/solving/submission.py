"""submission → candidate: it is run at once, and what looks odd in its result is said once before it is accepted."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.core.errors import QueryError, SandboxError
from tasks.core.models.answer import Candidate, Contract, Submission
from tasks.core.models.value import Cell
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote
from tasks.solve.showing.layout import one_line
from tasks.solve.solving import nothing, review
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation, of_error, of_rows
from tasks.solve.solving.program import compute

_PREVIEW_ROWS = 5
_SHOWN_CHARS = 1500
_DOUBT = (
    "It runs, but it does not count yet: look at what is odd. Submit a better query, "
    "or submit this one again with confirm = true if it is right as it is."
)


@dataclass(frozen=True)
class _Result:
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The first ones."""
    count: int
    truncated: bool
    digest: str
    all_null: tuple[str, ...]
    repeated: int
    """Rows that equal an earlier one."""


async def submit(bench: Bench, submission: Submission, confirm: bool) -> Observation:
    """Run it and keep it as a candidate. It is final unless it looks odd and the solver has not been told so yet.

    Told is who hands in the same result again, or confirms one that is odd in no new way.
    """
    try:
        result = await _run(bench, submission)
    except (QueryError, SandboxError) as error:
        return of_error(error)
    width = len(result.columns)
    if submission.columns and len(submission.columns) != width:
        text = f"Not accepted: `columns` names {len(submission.columns)} columns, the result has {width}."
        return Observation(text, ok=False)
    names = submission.columns or result.columns
    candidate = Candidate(
        submission=submission,
        digest=result.digest,
        columns=names,
        rows=result.count,
        preview=result.rows[:_PREVIEW_ROWS],
    )
    odd = oddities(bench.contract, result)
    bench.candidates.append(candidate)
    if not odd:
        bench.sound.add(len(bench.candidates) - 1)
    shown = of_rows(names, result.rows[:_PREVIEW_ROWS], result.count, _SHOWN_CHARS)
    known = result.digest in bench.told or (confirm and bench.told.issuperset(odd))
    bench.told |= {result.digest, *odd}
    if odd and not known:
        why = () if result.count or submission.program else await nothing.reasons(bench, submission.sql)
        listed = "\n".join(f"- {reason}" for reason in (*odd, *why))
        return Observation(f"Odd:\n{listed}\n\n{shown.text}", _DOUBT, ok=False, truncated=shown.truncated)
    index = len(bench.candidates) - 1
    if refused := review.of_candidate(bench, index):
        return refused
    bench.accepted = index
    return Observation(shown.text, "Accepted.", truncated=shown.truncated, final=True)


def oddities(contract: Contract, result: _Result) -> list[str]:
    """What speaks against the result, in sentences for the solver."""
    found = []
    wanted = [one_line(column.name, 60) for column in contract.columns]
    if not result.count:
        found.append("there are no rows: check the values and the spelling of every filter, and the joins")
    found += [f"column {one_line(name, 60)!r} is NULL in every row" for name in result.all_null]
    if wanted and len(wanted) != len(result.columns):
        found.append(
            f"the contract expects {len(wanted)} columns ({', '.join(wanted)}), the result has {len(result.columns)}; "
            "drop or add columns, or change the contract with revise_contract"
        )
    if contract.duplicates == "remove" and result.repeated:
        found.append(f"{result.repeated} rows repeat others, and the contract wants repeats removed")
    if contract.limit and contract.ties != "keep_all" and result.count > contract.limit:
        found.append(f"the contract allows {contract.limit} rows, the result has {result.count}")
    if result.truncated:
        found.append(f"there are more than {result.count} rows, and the answer would be cut there")
    return found


async def _run(bench: Bench, submission: Submission) -> _Result:
    if submission.program:
        computed = await compute(bench.engine, submission.sql, submission.program, bench.limits.sandbox)
        bench.tier = computed.tier
        columns, rows = computed.frame.columns, computed.frame.rows
        empty = tuple(name for i, name in enumerate(columns) if rows and all(row[i] is None for row in rows))
        return _Result(columns, rows, len(rows), False, computed.digest, empty, len(rows) - len(set(rows)))
    found = await bench.engine.query(submission.sql)
    if found.shown_all:
        rows = found.rows
        empty = tuple(name for i, name in enumerate(found.columns) if rows and all(row[i] is None for row in rows))
        repeated = len(rows) - len(set(rows))
    else:
        empty, repeated = await _measured(bench.engine, submission.sql, found.columns)
    return _Result(found.columns, found.rows, found.row_count, found.truncated, found.digest, empty, repeated)


async def _measured(engine: Engine, sql: str, columns: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Columns that are NULL in every row, and repeated rows, of a result that is too long to be seen whole."""
    aliases = [f"c{i}" for i in range(len(columns))]
    inner = sql.strip().rstrip(";")
    source = f"(\n{inner}\n) AS result({', '.join(map(quote, aliases))})"
    filled = ", ".join(f"count({quote(alias)})" for alias in aliases)
    try:
        counts = (await engine.query(f"SELECT count(*), {filled} FROM {source}")).rows[0]
        distinct = (await engine.query(f"SELECT count(*) FROM (SELECT DISTINCT * FROM {source})")).rows[0][0]
    except QueryError:
        return (), 0  # a result that could be read but not counted in time is judged by the checks on publishing
    total = int(counts[0] or 0)
    empty = tuple(name for name, filled in zip(columns, counts[1:], strict=True) if total and not filled)
    return empty, total - int(distinct or 0)
