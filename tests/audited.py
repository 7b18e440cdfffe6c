"""The shop's question, attempts at it step by step, and validators that say what a script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from endpoint import Endpoint
from shop import assignment

from tasks.core.files.store import Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.models.answer import AnswerTable, Assignment, Attempt, Candidate, Contract, Step, Submission
from tasks.core.models.evidence import Check, Checked, Replay
from tasks.core.models.review import Audit
from tasks.core.models.source import ArtifactRef
from tasks.core.settings import Settings, load
from tasks.solve.process import audit_process
from tasks.solve.verify import verify_answer

SQL = "SELECT sum(amount) AS sales FROM orders JOIN customers USING (customer_id) WHERE region = '华北'"
OTHER = "SELECT avg(amount) AS sales FROM orders"


Tried = tuple[str, dict[str, Any], str] | tuple[str, dict[str, Any], str, str]


def steps(*calls: Tried) -> tuple[Step, ...]:
    """A turn for each call: (tool, arguments, result), with `failed` or `cut` as a fourth."""
    found: list[Step] = []
    for tool, arguments, result, *how in calls:
        said = Step(index=len(found), kind="model", name="agent", arguments={"calls": [tool]}, result=f"now {tool}")
        done = Step(
            index=len(found) + 1,
            kind="tool",
            name=tool,
            arguments=arguments,
            result=result,
            ok="failed" not in how,
            truncated="cut" in how,
        )
        found += [said, done]
    return tuple(found)


def candidate(sql: str = SQL, value: float = 300.0) -> Candidate:
    return Candidate(submission=Submission(sql=sql), digest=sql, columns=("sales",), rows=1, preview=((value,),))


def attempt(made: Sequence[Step] = (), *handed_in: str, due: Any = "candidate") -> Attempt:
    """An attempt that waits for validators; the last submission is the one to look at."""
    return Attempt(
        style="json",
        steps=tuple(made),
        candidates=tuple(map(candidate, handed_in)),
        chosen=len(handed_in) - 1 if handed_in else None,
        contract=Contract(),
        ended="audit",
        due=due,
    )


def checked(fingerprint: str = "f1", *checks: Check, shape: str = "s1") -> Checked:
    """What code found of the last candidate."""
    table = AnswerTable(
        columns=("sales",),
        types=("DOUBLE",),
        rows=((300.0,),),
        row_count=1,
        file=ArtifactRef(sha256="0", name="a", size=1),
    )
    replay = Replay(sql=SQL, columns=("sales",), expected="d", digest="d", rows=1)
    return Checked(replay=replay, table=table, fingerprint=fingerprint, shape=shape, checks=checks)


def reply(valid: Any, issues: Sequence[str] = (), actions: Sequence[Any] = (), **ledger: Any) -> str:
    """A reply of the process validator; a pass cites the shop's knowledge unless it is told otherwise."""
    said = {"verified_claims": [{"text": "sales are the sum of amounts", "evidence": ["knowledge:3"]}], **ledger}
    return json.dumps(
        {"valid": valid, "issues": [*issues], "required_next_actions": [*actions], "semantic_ledger": said},
        ensure_ascii=False,
    )


class Validators:
    """Both stages over the shop, with a scripted model and an empty store."""

    def __init__(self, store: Store, folder: Path, script: Any, **changes: dict[str, Any]) -> None:
        self.store, self.endpoint = store, Endpoint(script)
        self._changes = changes
        self.given: Assignment = assignment(store, folder, "What are the sales of 华北?", load().brief)

    def __enter__(self) -> Validators:
        self.endpoint.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self.endpoint.__exit__(*problem)

    @property
    def settings(self) -> Settings:
        return load(
            overrides={
                "endpoints": {"main": {"url": self.endpoint.url, "model": "scripted"}},
                "retry": {"first_seconds": 0.01, "longest_seconds": 0.02},
                **self._changes,
            }
        )

    def process(self, tried: Attempt, found: Checked | None = None) -> Audit:
        """The next audit of the process; the assignment keeps it."""
        settings = self.settings
        with door.use(Door(settings, self.store, Meter(settings.budget))):
            audit = asyncio.run(audit_process(self.given, tried, found or checked(), settings.solver))
        self.given = self.given.model_copy(update={"audits": (*self.given.audits, audit)})
        return audit

    def form(self, tried: Attempt, found: Checked, audit: Audit | None) -> Audit:
        """The next audit of the form."""
        settings = self.settings
        with door.use(Door(settings, self.store, Meter(settings.budget))):
            said = asyncio.run(verify_answer(self.given, tried, found, audit, settings.solver))
        self.given = self.given.model_copy(update={"audits": (*self.given.audits, said)})
        return said

    def told(self, request: int = -1) -> str:
        """The last message of a request, as the model got it."""
        content: str = self.endpoint.requests[request]["messages"][-1]["content"]
        return content
