"""answer + tables drawn from documents → files in the caller's folder (`derived/` too) and Prefect artifacts, on every run."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from typing import Any

from tasks.core.files import store as stores
from tasks.core.files.caller import write_all
from tasks.core.models.answer import Answer, AnswerTable
from tasks.core.models.context import TableRelevanceResult
from tasks.core.models.document import DerivedTable
from tasks.core.models.evidence import Delivery, Evidence
from tasks.core.sql.names import unique_names
from tasks.solve.publishing.report.summary import code, summarise
from tasks.stage import stage

_ARTIFACT_BYTES = 100_000
"""Prefect lists artifacts with their content: 40 MB in one made its page answer with 52 MB."""
_ARTIFACT_SECONDS = 20.0
_CELL_CHARS = 500
_log = logging.getLogger(__name__)


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
    folder = write_all(out, files, "the answer", without="" if answer.table else csv_name)
    evidence = Evidence.model_validate_json(files["evidence.json"])
    return Delivery(folder=str(folder), files=tuple(sorted(files)), warnings=await _show(answer, evidence))


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
    if evidence.relevance and not evidence.relevance.off:
        votes = _votes(evidence.relevance)
        told = f"Tables by votes: {_verdicts(evidence.relevance)}"
        await acreate_table_artifact(table=votes, key=f"relevance{suffix}", description=told)
    spend = [usage.model_dump() for usage in evidence.usage] or [{"stage": "none", "calls": 0}]
    await acreate_table_artifact(table=spend, key=f"spend{suffix}", description="Model calls by stage")


def _verdicts(result: TableRelevanceResult) -> str:
    """How many of each."""
    counts = {
        "relevant": len(result.all_tables) - len(result.skipped_tables),
        "folded": len(result.skipped_tables),
        "folded without a vote": len(result.not_judged),
        "kept, drawn from documents": len(result.always_keep),
    }
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)


def _votes(result: TableRelevanceResult) -> list[dict[str, Any]]:
    """A row for each table as far as they fit: relevant ones, then folded ones, then those that nobody judged."""
    voted = sorted(result.all_tables, key=lambda name: not result.per_table[name])
    verdicts = [(name, "relevant" if result.per_table[name] else "folded") for name in voted]
    verdicts += [(name, "kept: drawn from a document") for name in result.always_keep]
    verdicts += [(name, "folded: not judged") for name in result.not_judged]
    rows = [
        {
            "table": name,
            "verdict": verdict,
            "tally": result.vote_tally.get(name, ""),
            "reason": result.reasons.get(name, "")[:_CELL_CHARS],
        }
        for name, verdict in verdicts
    ]
    return _within(rows)


def _within(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many rows as an artifact may hold."""
    room, shown = _ARTIFACT_BYTES, []
    for row in rows:
        room -= len(json.dumps(row).encode()) + 2
        if room < 0:
            break
        shown.append(row)
    return shown


def _key(task_id: str) -> str:
    """The task's part of an artifact key, which takes lower-case letters, digits and dashes only."""
    slug = re.sub(r"[^a-z0-9]+", "-", task_id.casefold()).strip("-")
    return f"-{slug}" if slug else ""


def _artifact_rows(table: AnswerTable) -> list[dict[str, Any]]:
    """As many rows as fit; long text is cut."""
    names = unique_names(table.columns)
    return _within(
        [
            dict(zip(names, (cell[:_CELL_CHARS] if isinstance(cell, str) else cell for cell in row), strict=True))
            for row in table.rows
        ]
    )
