"""attempt → replayed answer with its evidence and report."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tasks.core.errors import EvidenceError
from tasks.core.evidence.outline import outline
from tasks.core.evidence.package import Findings, look, package
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.answer import Answer, AnswerTable, Assignment, Attempt
from tasks.core.models.evidence import Evidence, Replay
from tasks.core.sections import PublishSettings, SolverSettings
from tasks.core.sql import joins
from tasks.core.sql.engine import Engine
from tasks.solve.publishing.casts import audit_casts
from tasks.solve.publishing.follow import follow_cells
from tasks.solve.publishing.replay import Replayed, patient, replay
from tasks.solve.publishing.report.page import render
from tasks.solve.publishing.status import judge
from tasks.stage import stage


@stage(roles=("contract", "agent"), prompts=("../publishing/report/page.html", "../publishing/report/page.css"))
async def publish(given: Assignment, attempt: Attempt, solver: SolverSettings, limits: PublishSettings) -> Answer:
    """Replay the chosen submission from the stored catalogue and keep answer, evidence and report as artifacts.

    The table is withheld when the replay is not what the solver saw.
    """
    with tempfile.TemporaryDirectory(prefix="tablewright-publish-") as folder:
        found, replayed = await _replay(given, attempt, solver, limits, Path(folder))
        table = _keep(replayed) if replayed else None
    cut_short = bool(given.catalogue.stopped)
    checks = look(given, attempt, found)
    verdict = judge(attempt, found.replay, solver.agent.confident_share, checks, cut_short=cut_short)
    evidence = package(given, attempt, found, verdict, _models(given))
    keep = stores.current().put
    return Answer(
        question=given.question,
        status=evidence.status,
        reason=evidence.reason,
        table=table,
        evidence=keep(to_json(evidence), "evidence.json"),
        report=keep(render(evidence, table).encode(), "report.html"),
    )


def to_json(evidence: Evidence) -> bytes:
    """The file's bytes: UTF-8, indented, letters of all scripts as they are."""
    return (json.dumps(evidence.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n").encode()


async def _replay(
    given: Assignment, attempt: Attempt, solver: SolverSettings, limits: PublishSettings, folder: Path
) -> tuple[Findings, Replayed | None]:
    """What the replay gave; without a Replayed there is no answer to show."""
    candidate = attempt.candidate
    if candidate is None:
        return Findings(), None
    parts = outline(candidate.submission.sql)
    async with Engine.over(given.catalogue, patient(solver.query, limits.preview_rows)) as engine:
        try:
            replayed = await replay(candidate, parts, engine, solver.sandbox, folder)
        except EvidenceError as error:
            submission = candidate.submission.model_dump(include={"sql", "program"})
            return Findings(Replay(**submission, expected=candidate.digest, error=error.message), parts), None
        measured = await joins.audit(engine, candidate.submission.sql) if limits.join_audit else ()
        cells = await follow_cells(replayed, parts, given.catalogue, engine)
        casts = await audit_casts(engine, candidate.submission.sql, given.profile)
    return Findings(replayed.replay, parts, replayed.tally, measured, cells, casts), replayed


def _keep(replayed: Replayed) -> AnswerTable:
    return AnswerTable(
        columns=replayed.replay.columns,
        types=replayed.types,
        rows=replayed.preview,
        row_count=replayed.replay.rows,
        file=stores.current().put_file(replayed.path, "answer.csv"),
    )


def _models(given: Assignment) -> dict[str, dict[str, Any]]:
    roles = ("contract", "agent") if given.contract.usage.tokens_in else ("agent",)
    return {role: door.current().identity(role) for role in roles}
