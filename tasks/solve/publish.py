"""attempt → replayed answer with evidence and report; answer → files in the caller's folder and Prefect artifacts."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tasks.core.errors import EvidenceError, InputError
from tasks.core.evidence.outline import outline
from tasks.core.evidence.package import Findings, package
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.answer import Answer, AnswerTable, Assignment, Attempt
from tasks.core.models.document import DerivedTable
from tasks.core.models.evidence import Delivery, Evidence, Replay
from tasks.core.settings import PublishSettings, SolverSettings
from tasks.core.sql import joins
from tasks.core.sql.engine import Engine
from tasks.core.sql.names import unique_names
from tasks.solve.publishing.follow import follow_cells
from tasks.solve.publishing.replay import Replayed, patient, replay
from tasks.solve.publishing.status import judge
from tasks.solve.report.page import render
from tasks.solve.report.summary import code, summarise
from tasks.stage import stage

_ARTIFACT_BYTES = 100_000
"""Prefect lists artifacts with their content: 40 MB in one made its page answer with 52 MB."""
_ARTIFACT_SECONDS = 20.0
_CELL_CHARS = 500
_log = logging.getLogger(__name__)


@stage(roles=("contract", "agent"), prompts=("../report/page.html", "../report/page.css"))
async def publish(given: Assignment, attempt: Attempt, solver: SolverSettings, limits: PublishSettings) -> Answer:
    """Replay the chosen submission from the stored catalogue and keep answer, evidence and report as artifacts.

    The table is withheld when the replay is not what the solver saw.
    """
    with tempfile.TemporaryDirectory(prefix="tablewright-publish-") as folder:
        found, replayed = await _replay(given, attempt, solver, limits, Path(folder))
        table = _keep(replayed) if replayed else None
    verdict = judge(attempt, found.replay, solver.agent.confident_share, bool(given.catalogue.stopped))
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


@stage(fresh=True)
async def deliver(
    answer: Answer, out: str, csv_name: str = "answer.csv", derived: tuple[DerivedTable, ...] = ()
) -> Delivery:
    """Write the answer's files into the folder `out`, each whole or not at all, and show them in Prefect.

    The tables drawn from documents go to `derived/` in it.

    A table that is withheld leaves no CSV file, not even that of an earlier run. Raises InputError when the
    folder cannot be written.
    """
    store = stores.current()
    files = {"evidence.json": store.get(answer.evidence), "report.html": store.get(answer.report)}
    if answer.table:
        files[csv_name] = store.get(answer.table.file)
    files |= {table.file: store.get(table.database) for table in derived}
    try:
        folder = Path(out).expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if not answer.table:
            (folder / csv_name).unlink(missing_ok=True)
        for name, data in files.items():
            stores.Folder(folder).write(name, data)
    except (OSError, RuntimeError, ValueError) as error:  # `~nobody` and a NUL in the name are no OSError
        hint = "choose a folder that you may write to, on a disk with room"
        raise InputError(
            f"cannot write the answer to {out!r}: {getattr(error, 'strerror', None) or error}", hint
        ) from error
    evidence = Evidence.model_validate_json(files["evidence.json"])
    return Delivery(folder=str(folder), files=tuple(sorted(files)), warnings=await _show(answer, evidence))


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
    return Findings(replayed.replay, parts, replayed.tally, measured, cells), replayed


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


async def _show(answer: Answer, evidence: Evidence) -> tuple[str, ...]:
    """Show answer, evidence and spend in Prefect when a run is under way; gives a warning when that fails.

    The files are already written, so trouble of the server costs the picture only.
    """
    if not _in_run():
        return ()
    import httpx
    from prefect.exceptions import PrefectException

    try:
        async with asyncio.timeout(_ARTIFACT_SECONDS):
            await _create_artifacts(answer, evidence)
    except (PrefectException, httpx.HTTPError, OSError, RuntimeError, ValueError) as error:
        warning = f"the answer could not be shown in Prefect: {type(error).__name__}: {error}"
        _log.warning(warning)
        return (warning,)
    return ()


def _in_run() -> bool:
    """Whether a Prefect flow or task run is under way; Prefect is not imported to find out."""
    context = sys.modules.get("prefect.context")
    return bool(context and (context.FlowRunContext.get() or context.TaskRunContext.get()))


async def _create_artifacts(answer: Answer, evidence: Evidence) -> None:
    from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

    suffix = _key(answer.question.task_id)
    about = f"{answer.status}: {answer.reason}"
    if answer.table:
        shown = _artifact_rows(answer.table)
        note = "" if len(shown) == answer.table.row_count else f" ({len(shown)} of {answer.table.row_count} rows)"
        await acreate_table_artifact(table=shown, key=f"answer{suffix}", description=code(about) + note)
    text = summarise(evidence)
    await acreate_markdown_artifact(markdown=text[: _ARTIFACT_BYTES // 4], key=f"evidence{suffix}")
    spend = [usage.model_dump() for usage in evidence.usage] or [{"stage": "none", "calls": 0}]
    await acreate_table_artifact(table=spend, key=f"spend{suffix}", description="Model calls by stage")


def _key(task_id: str) -> str:
    """The task's part of an artifact key, which takes lower-case letters, digits and dashes only."""
    slug = re.sub(r"[^a-z0-9]+", "-", task_id.casefold()).strip("-")
    return f"-{slug}" if slug else ""


def _artifact_rows(table: AnswerTable) -> list[dict[str, Any]]:
    """As many rows as fit; long text is cut."""
    names = unique_names(table.columns)
    room, shown = _ARTIFACT_BYTES, []
    for row in table.rows:
        cells = [cell[:_CELL_CHARS] if isinstance(cell, str) else cell for cell in row]
        shown.append(dict(zip(names, cells, strict=True)))
        room -= len(json.dumps(shown[-1]).encode()) + 2
        if room < 0:
            shown.pop()
            break
    return shown
