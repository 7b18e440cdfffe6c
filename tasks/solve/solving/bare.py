"""assignment → attempt by one bare prompt: every table's DDL and the question, one reply, run as it is.

What a model does without tablewright around it; the yardstick of `tablewright benchmark`, not a way to answer.
"""

from __future__ import annotations

from pathlib import Path

from tasks.core.errors import BudgetError, ModelError, QueryError
from tasks.core.llm import door
from tasks.core.llm.prompts import fill
from tasks.core.models.answer import Assignment, Attempt, Candidate, Step
from tasks.core.models.run import Usage
from tasks.core.sections import SolverSettings
from tasks.core.sql.engine import Engine
from tasks.solve.showing.layout import spelled
from tasks.solve.solving.dialogue import End
from tasks.solve.solving.single import ROLE, candidate_of, query_of
from tasks.solve.solving.vote import Ballot

PROMPT = Path(__file__).parents[1] / "prompts" / "bare.md"


async def solve_bare(given: Assignment, engine: Engine, limits: SolverSettings) -> Attempt:
    """Ask once, run once."""
    tables = [
        f"CREATE TABLE {spelled(t.name)} ({', '.join(f'{spelled(c.name)} {c.type}' for c in t.columns)});"
        for t in given.profile.tables
    ]
    message = {"role": "user", "content": fill(PROMPT, schema="\n".join(tables), question=given.question.text)}
    try:
        asked = await door.ask_text(ROLE, [message], samples=1)
    except (ModelError, BudgetError) as error:
        away = isinstance(error, ModelError) and error.away
        return _attempt(given, [], [], "unreachable" if away else "model_error", error.told)
    sql, result, trouble = query_of(asked.value), None, ""
    try:
        result = await engine.query(sql)
    except QueryError as error:
        trouble = error.message
    candidate = candidate_of(Ballot(sql, result, trouble), 1)
    reply = asked.value[: limits.agent.result_chars]
    step = Step(index=0, kind="model", name=ROLE, result=reply, ok=not trouble, usage=asked.usage)
    return _attempt(given, [step], [candidate], "no_query" if trouble else "submitted", trouble)


def _attempt(given: Assignment, steps: list[Step], candidates: list[Candidate], ended: End, problem: str) -> Attempt:
    return Attempt(
        style="bare",
        steps=tuple(steps),
        candidates=tuple(candidates),
        chosen=0 if ended == "submitted" else None,
        contract=given.contract,
        ended=ended,
        problems=(problem,) if problem else (),
        usage=sum((step.usage for step in steps), Usage()),
    )
