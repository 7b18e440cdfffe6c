"""A right or faulty submission → what the validator of the process says of it, on the evidence that a short attempt leaves."""

from __future__ import annotations

from typing import Any

from tasks.core.errors import QueryError
from tasks.core.evidence.outline import outline
from tasks.core.models.answer import Assignment, Attempt, Candidate, Contract, Step, Submission
from tasks.core.models.review import Audit
from tasks.core.settings import Settings
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote
from tasks.solve.check import check_candidate
from tasks.solve.process import audit_process
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation, of_error, of_rows
from tasks.solve.solving.reading import describe

_SHOWN = 5


async def second_look(given: Assignment, sql: str, settings: Settings) -> Audit:
    """The audit of a submission whose attempt described each table, looked at its first rows, and ran the query once.

    What the checks failed is taken off, so that the model alone decides.
    """
    limits = settings.solver
    async with Engine.over(given.catalogue, limits.query) as engine:
        steps = await _steps(given, sql, engine, settings)
        result = await engine.query(sql)
    candidate = Candidate(
        submission=Submission(sql=sql),
        digest=result.digest,
        columns=result.columns,
        rows=result.row_count,
        preview=result.rows[:_SHOWN],
    )
    checked = await check_candidate.function(given, candidate, Contract(), limits, settings.publish)
    checked = checked.model_copy(
        update={"candidate": 0, "checks": tuple(check for check in checked.checks if check.outcome != "failed")}
    )
    attempt = Attempt(
        style="json",
        steps=steps,
        candidates=(candidate,),
        chosen=0,
        contract=Contract(),
        ended="audit",
        due="candidate",
    )
    return await audit_process.function(given, attempt, checked, limits)


async def _steps(given: Assignment, sql: str, engine: Engine, settings: Settings) -> tuple[Step, ...]:
    tables = list(outline(sql).tables)
    chars = settings.agent.result_chars
    bench = Bench(given, engine, settings.solver, Contract())
    calls: list[tuple[str, dict[str, Any], Observation]] = [
        ("describe", {"tables": tables}, describe(bench, tables, "")),
    ]
    for query in (*(f"SELECT * FROM {quote(name)} LIMIT {_SHOWN}" for name in tables), sql):
        try:
            found = await engine.query(query, _SHOWN)
            seen = of_rows(found.columns, found.rows, found.row_count, chars)
        except QueryError as error:
            seen = of_error(error)
        calls.append(("query", {"sql": query}, seen))
    calls.append(("submit", {"sql": sql}, Observation("accepted")))
    return tuple(
        Step(
            index=at,
            kind="tool",
            name=tool,
            arguments=arguments,
            result=seen.plain,
            ok=seen.ok,
            truncated=seen.truncated,
        )
        for at, (tool, arguments, seen) in enumerate(calls)
    )
