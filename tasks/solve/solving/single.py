"""assignment → attempt for small models: SQL asked for directly, several samples, mended by code, decided by their results.

No plan and no tools: both cost a small model more than they give. One sample is drawn without chance, the others with;
what most results agree on wins, and the share that agrees is the confidence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tasks.core.errors import BudgetError, ModelError, QueryError
from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.llm.talk import UnusableError
from tasks.core.models.answer import Assignment, Attempt, Candidate, Step, Submission, Unsettled
from tasks.core.models.run import Usage
from tasks.core.sections import SolverSettings
from tasks.core.sql.engine import Engine
from tasks.solve.mending.literals import mend_literals, mentions
from tasks.solve.mending.repair import converted, repair
from tasks.solve.mending.scopes import Schema
from tasks.solve.showing.contract import contract_text
from tasks.solve.solving.dialogue import End
from tasks.solve.solving.observe import Observation, of_error, of_rows
from tasks.solve.solving.vote import Ballot, is_empty, speaker, tally

ROLE, GREEDY = "agent", "greedy"
"""Roles of the samples with and without chance."""
PROMPT = Path(__file__).parents[1] / "prompts" / "single.md"
_REPAIRS = 3
"""Rounds of mending: one mistake hides the next."""
_PREVIEW_ROWS = 5
_AGAIN = "That query does not run:\n{error}\nWrite it in another way. Reply with the SQL only."
_FENCE = re.compile(r"(?s)(?:```|~~~)(?:\w+\n|\s)(.*?)(?:```|~~~|$)")
_QUERY = re.compile(r"(?is)\b(?:with\s+(?:recursive\s+)?[\w\"]+\s*(?:\([^)]*\)\s*)?as\b|select(?![a-z]))")
_END = re.compile(r"""(?s)^((?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^;'"])*)""")


async def solve_single(given: Assignment, engine: Engine, limits: SolverSettings) -> Attempt:
    """Ask, run, mend, count. What a budget or an endpoint cut short is marked as unsettled."""
    solving = _Solving(given, engine, limits)
    await solving.run()
    return solving.attempt()


def query_of(reply: str) -> str:
    """The query in a reply: from JSON, from a fence, or from the first SELECT or WITH to the end of the statement."""
    text = reply
    if reply.lstrip().startswith("{"):
        try:
            text = str(json.loads(reply)["sql"])
        except (ValueError, KeyError, TypeError):
            text = reply
    if not _QUERY.match(text.lstrip()) and (fenced := _FENCE.search(text)):
        # not where the reply is the query itself: a value in it may hold a fence, with another query inside
        text = fenced[1]
    if start := _QUERY.search(text):
        text = text[start.start() :]
    end = _END.match(text)
    return (end[1] if end else text).strip()


@dataclass
class _Solving:
    """One attempt under way."""

    given: Assignment
    engine: Engine
    limits: SolverSettings
    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ballots: list[Ballot] = field(default_factory=list)
    ended: End = "submitted"
    unsettled: Unsettled = ""
    _seen: dict[str, Ballot] = field(default_factory=dict)

    async def run(self) -> None:
        """One round, and a second one that shows the error when nothing ran."""
        self.schema = Schema(self.given.profile)
        messages = [{"role": "user", "content": await self._prompt()}]
        await self._round(messages)
        failed = next((ballot for ballot in self.ballots if ballot.error and ballot.sql), None)
        if failed and self.ended == "submitted" and not any(ballot.result for ballot in self.ballots):
            again = _AGAIN.format(error=fence(failed.error))
            messages += [{"role": "assistant", "content": failed.sql}, {"role": "user", "content": again}]
            await self._round(messages)
        if self.ended == "submitted" and not any(ballot.sql for ballot in self.ballots):
            self.ended, self.unsettled = "model_error", "stopped"

    def attempt(self) -> Attempt:
        """Groups of equal results, the winner first, then what did not run."""
        groups = tally(self.ballots)
        candidates = [candidate_of(speaker(group), len(group)) for group in groups]
        failed = Counter(ballot.sql for ballot in self.ballots if not ballot.result)
        first = {ballot.sql: ballot for ballot in reversed(self.ballots)}
        candidates += [candidate_of(first[sql], votes) for sql, votes in failed.items()]
        sent_back = {a.candidate for a in self.given.audits if a.verdict == "rejected"}
        chosen = next((index for index in range(len(groups)) if index not in sent_back), 0)
        looked = any(audit.candidate == chosen for audit in self.given.audits)
        audited = self.limits.process.enabled or self.limits.verify.enabled
        due = bool(groups) and audited and not looked and self.ended == "submitted"
        return Attempt(
            style="single",
            steps=tuple(self.steps),
            candidates=tuple(candidates),
            chosen=chosen if groups else None,
            samples=max(len(self.ballots), 1),
            contract=self.given.contract,
            ended="audit" if due else "no_query" if not groups and self.ended == "submitted" else self.ended,
            due="candidate" if due else "",
            problems=tuple(dict.fromkeys(self.problems)),
            usage=sum((step.usage for step in self.steps), Usage()),
            unsettled=self.unsettled,
        )

    async def _prompt(self) -> str:
        question = self.given.question.text
        try:
            found = await mentions(self.engine, question, self.given.profile, self.given.brief.shown)
        except QueryError as error:
            self.problems.append(f"values of the question were not looked up: {error.message}")
            found = ()
        notes = [mention.line() for mention in found]
        expected = contract_text(self.given.contract)
        notes += [f"Expected:\n{expected}"] * bool(expected)
        brief = "\n\n".join(part for part in (self.given.brief.text, "\n".join(notes)) if part)
        return fill(PROMPT, brief=fence(brief), question=fence(question))

    async def _round(self, messages: list[dict[str, str]]) -> None:
        chance = door.current().settings.role(ROLE).temperature > 0
        for role in (GREEDY, ROLE) if chance else (GREEDY,):
            try:
                asked = await door.ask_text(role, messages, samples=1 if role == GREEDY else None)
            except UnusableError as error:
                self._step("model", role, {"samples": error.replies}, of_error(error), error.usage)
                self._silent(error.replies, error.told)
                self.problems.append(error.told)
                continue
            except BudgetError as error:
                self._stopped("budget", error.told, "stopped")
                return
            except ModelError as error:
                self._stopped("unreachable" if error.away else "model_error", error.told, error.unsettled)
                return
            self.problems += asked.problems
            said = Observation("\n\n".join(asked.values)[: self.limits.agent.result_chars])
            self._step("model", role, {"samples": len(asked.values)}, said, asked.usage)
            for text in asked.values:
                self.ballots.append(await self._cast(query_of(text), role == GREEDY))
            self._silent(len(asked.texts) - len(asked.values), "the reply could not be used")

    def _silent(self, samples: int, why: str) -> None:
        """Count samples that gave no query at all: cut off, empty or refused."""
        self.ballots += [Ballot("", None, why)] * samples

    async def _cast(self, sql: str, greedy: bool) -> Ballot:
        """Run a sample; equal samples run once."""
        if sql not in self._seen:
            ballot = await self._tried(sql, (), _REPAIRS)
            if ballot.result and is_empty(ballot.result):
                ballot = await self._with_stored_values(ballot)
            self._seen[sql] = ballot
        known = self._seen[sql]
        return Ballot(known.sql, known.result, known.error, known.reasons, greedy)

    async def _tried(self, sql: str, reasons: tuple[str, ...], left: int) -> Ballot:
        try:
            result = await self.engine.query(sql)
        except QueryError as error:
            self._step("tool", "query", _arguments(sql, reasons), of_error(error), Usage())
            mended = repair(sql, error.message, self.schema) if left else None
            if mended is None or mended.sql == sql:
                return Ballot(sql, None, error.message, reasons)
            return await self._tried(mended.sql, (*reasons, *mended.reasons), left - 1)
        shown = of_rows(result.columns, result.rows[:_PREVIEW_ROWS], result.row_count, self.limits.agent.result_chars)
        self._step("tool", "query", _arguments(sql, reasons), shown, Usage())
        ran = Ballot(sql, result, "", reasons)
        mended = converted(sql, self.schema)
        if mended is None or mended.sql == sql:
            return ran
        better = await self._tried(mended.sql, (*reasons, *mended.reasons), 0)
        return better if better.result else ran

    async def _with_stored_values(self, ballot: Ballot) -> Ballot:
        """A query that found nothing, with its texts as they are stored, if that finds something."""
        try:
            mended = await mend_literals(self.engine, ballot.sql, self.schema)
        except QueryError as error:
            self.problems.append(f"values of a query were not looked up: {error.message}")
            return ballot
        if mended is None:
            return ballot
        better = await self._tried(mended.sql, (*ballot.reasons, *mended.reasons), 0)
        return better if better.result and not is_empty(better.result) else ballot

    def _stopped(self, ended: End, problem: str, unsettled: Unsettled) -> None:
        self.ended, self.unsettled = ended, unsettled
        self.problems.append(problem)

    def _step(self, kind: str, name: str, arguments: dict, seen: Observation, usage: Usage) -> None:  # type: ignore[type-arg]
        self.steps.append(
            Step.model_validate(
                {
                    "index": len(self.steps),
                    "kind": kind,
                    "name": name,
                    "arguments": arguments,
                    "result": seen.plain,
                    "ok": seen.ok,
                    "truncated": seen.truncated,
                    "usage": usage,
                }
            )
        )


def _arguments(sql: str, reasons: tuple[str, ...]) -> dict[str, object]:
    return {"sql": sql, **({"mended": list(reasons)} if reasons else {})}


def candidate_of(ballot: Ballot, votes: int) -> Candidate:
    """What became of a ballot, with the number of samples that gave its result."""
    result = ballot.result
    mended = f"mended by code: {'; '.join(ballot.reasons)}" if ballot.reasons else ""
    submission = Submission(sql=ballot.sql, reason=mended)
    if result is None:
        return Candidate(submission=submission, votes=votes, error=ballot.error)
    return Candidate(
        submission=submission,
        digest=result.digest,
        columns=result.columns,
        rows=result.row_count,
        preview=result.rows[:_PREVIEW_ROWS],
        votes=votes,
    )
