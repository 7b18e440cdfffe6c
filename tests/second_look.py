"""A right or faulty submission → what code, the validator of the process and that of the form say of it, as in a run.

The attempt is a short one: it described each table, looked at its first rows, ran the query and handed it in. The model that
judges is not told what checks failed, so that it is seen what it finds alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mutants import Case

from tasks.core.errors import QueryError
from tasks.core.evidence.outline import outline
from tasks.core.files.store import Folder, Store, current, use
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import Assignment, Attempt, Candidate, Contract, Step, Submission
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit
from tasks.core.models.run import Usage
from tasks.core.settings import Settings, load
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import quote
from tasks.solve.check import check_candidate
from tasks.solve.process import audit_process
from tasks.solve.publishing.status import judge
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation, of_error, of_rows
from tasks.solve.solving.reading import describe
from tasks.solve.verify import OFF as FORM_OFF
from tasks.solve.verify import verify_answer

_SHOWN = 5
FREE = {"calls": 0, "tokens": 0, "money": 0.0, "seconds": 0}
"""No budget."""


class Look(NamedTuple):
    """What was said of one case."""

    case: Case
    process: Audit
    form: Audit | None
    """None where the process was not approved: then nobody asks for the form."""
    status: str
    """Of the answer, if it were published with these audits and all checks."""
    seconds: float

    @property
    def usage(self) -> Usage:
        """Calls and tokens of both."""
        return self.process.usage + (self.form.usage if self.form else Usage())

    @property
    def rejected(self) -> bool:
        """A model rejected it."""
        return "rejected" in (self.process.verdict, self.form.verdict if self.form else "")

    @property
    def unassessed(self) -> bool:
        """A model that was asked gave no verdict."""
        asked = [audit for audit in (self.process, self.form) if audit and audit.problem != FORM_OFF]
        return any(audit.verdict == "not_assessed" for audit in asked)

    def line(self) -> str:
        """One line for whoever waits."""
        code = "failed by code" if self.case.failed else "let through by code"
        why = "; ".join(self.process.issues) or self.process.problem
        left_out = self.process.package.omitted_by_reason or "nothing"
        tokens = f"{self.usage.tokens_in} + {self.usage.tokens_out} tokens, left out: {left_out}"
        return f"{self.process.verdict} ({self.case.name}; {code}; {tokens}; {self.seconds:.0f} s): {why}"


def judging(profile: str, seconds: float, form: bool = True) -> Settings:
    """Settings under which a model judges, whatever the profile says of validators; without a budget for all of it."""
    roles = {role: {"timeout_seconds": seconds} for role in ("process", "verify")} if seconds else {}
    on = {"enabled": True, "model": True}
    return load(profile, {"process": on, "verify": {**on, "model": form}, "budget": FREE, "roles": roles})


@contextlib.contextmanager
def asking(profile: str, seconds: float, keep: Path | None, form: bool = True) -> Iterator[Settings]:
    """A door to the profile's model; its replies are journaled in `keep`, where they are found again, or in the present store."""
    settings, here = judging(profile, seconds, form), current()
    journal = Store(Folder(keep), keep / "cache") if keep else here
    with use(here), door.use(Door(settings, journal, Meter(settings.budget))):
        yield settings


async def looks(
    cases: Sequence[Case], given: Mapping[str, Assignment], settings: Settings, at_once: int, deadline: float
) -> list[Look]:
    """A look at each case, several at once, told as they come; none is begun after the deadline (of the monotonic clock)."""
    gate, found = asyncio.Semaphore(at_once), []

    async def one(case: Case) -> None:
        async with gate:
            if time.monotonic() < deadline:
                found.append(await look(given[case.task], case, settings))
                print(found[-1].line(), flush=True)

    await asyncio.gather(*(one(case) for case in cases))
    return found


async def look(given: Assignment, case: Case, settings: Settings) -> Look:
    """Check, audit and verify one submission."""
    began, limits = time.monotonic(), settings.solver
    attempt = await attempt_of(given, case.sql, settings)
    candidate = attempt.candidate
    assert candidate
    checked = await check_candidate.function(given, candidate, Contract(), limits, settings.publish)
    untold = checked.model_copy(update={"checks": tuple(c for c in checked.checks if c.outcome != "failed")})
    process = await audit_process.function(given, attempt, untold, limits)
    form = None
    if process.verdict == "approved":
        form = await verify_answer.function(given, attempt, untold, process, limits)
    return Look(case, process, form, _status(given, attempt, checked, process, form), time.monotonic() - began)


def _status(given: Assignment, attempt: Attempt, checked: Checked, process: Audit, form: Audit | None) -> str:
    whole = given.model_copy(update={"audits": (process, *([form] if form else []))})
    return judge(whole, attempt.model_copy(update={"ended": "submitted", "due": ""}), checked, 0)[0]


async def attempt_of(given: Assignment, sql: str, settings: Settings) -> Attempt:
    """An attempt that came to this query in a few steps, each with the result that its tool really gives."""
    async with Engine.over(given.catalogue, settings.query) as engine:
        steps = await _steps(given, sql, engine, settings)
        result = await engine.query(sql)
    candidate = Candidate(
        submission=Submission(sql=sql),
        digest=result.digest,
        columns=result.columns,
        rows=result.row_count,
        preview=result.rows[:_SHOWN],
    )
    return Attempt(
        style="json",
        steps=steps,
        candidates=(candidate,),
        chosen=0,
        contract=Contract(),
        ended="audit",
        due="candidate",
    )


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


def opinions(found: Sequence[Look]) -> str:
    """What code, the model and either of them reject, of faults and of right queries; by kind; and what it took."""
    if not found:
        return ""
    lines = [
        "",
        "| of the sample | n | code | model | either | no verdict | published as |",
        "|---|---|---|---|---|---|---|",
    ]
    kinds = dict.fromkeys(one.case.kind for one in found if one.case.kind)
    groups = [(kind, [one for one in found if one.case.kind == kind]) for kind in kinds]
    groups += [
        ("all faults", [one for one in found if one.case.kind]),
        ("right queries", [one for one in found if not one.case.kind]),
    ]
    lines += [_group(name, those) for name, those in groups if those]
    used = sum((one.usage for one in found), Usage())
    left_out: Counter[str] = sum((Counter(one.process.package.omitted_by_reason) for one in found), Counter())
    lines += [
        "",
        f"{used.calls} calls, {used.tokens_in:,} tokens in, {used.tokens_out:,} out, "
        f"{sum(one.seconds for one in found):,.0f} s; evidence left out: {dict(left_out) or 'none'}",
    ]
    problems = Counter(audit.problem for one in found for audit in (one.process, one.form) if audit and audit.problem)
    return "\n".join([*lines, *(f"no verdict, {count} times: {problem}" for problem, count in problems.most_common())])


def _group(name: str, those: Sequence[Look]) -> str:
    counts = (
        sum(one.case.failed for one in those),
        sum(one.rejected for one in those),
        sum(one.case.failed or one.rejected for one in those),
        sum(one.unassessed for one in those),
    )
    shares = [f"{count} ({count / len(those):.0%})" for count in counts]
    published = ", ".join(f"{status} {count}" for status, count in sorted(Counter(one.status for one in those).items()))
    return f"| {name} | {len(those)} | {' | '.join(shares)} | {published} |"
