"""answer + tables drawn from documents → files in the caller's folder (`derived/` too) and Prefect artifacts, on every run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tasks.artifacts import Sheet, Shown, Text, show, within
from tasks.core.files import store as stores
from tasks.core.files.caller import write_all
from tasks.core.models.answer import Answer, AnswerTable
from tasks.core.models.context import TableRelevanceResult
from tasks.core.models.document import DerivedTable
from tasks.core.models.evidence import Delivery, Evidence
from tasks.core.sql.names import unique_names
from tasks.solve.publishing.report.summary import code, summarise
from tasks.stage import stage

_CELL_CHARS = 500


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
    kept = {"evidence.json": answer.evidence, "report.html": answer.report}
    if answer.table:
        kept[csv_name] = answer.table.file
    kept |= {table.file: table.database for table in derived}
    files = {name: store.get(ref) for name, ref in kept.items()}
    folder = write_all(out, files, "the answer", without="" if answer.table else csv_name)
    evidence = Evidence.model_validate_json(files["evidence.json"])
    warnings = await show("the answer", _pictures(answer, evidence))
    return Delivery(folder=str(folder), files=tuple(sorted(files)), warnings=warnings, kept=kept)


def _pictures(answer: Answer, evidence: Evidence) -> Iterator[Shown]:
    """Answer, evidence, votes on tables, and spend."""
    suffix = _key(answer.question.task_id)
    about = f"{answer.status}: {answer.reason}"
    if answer.table:
        rows = _rows(answer.table)
        note = "" if len(rows) == answer.table.row_count else f" ({len(rows)} of {answer.table.row_count} rows)"
        yield Sheet(f"answer{suffix}", rows, code(about) + note)
    yield Text(f"evidence{suffix}", summarise(evidence))
    if evidence.relevance and not evidence.relevance.off:
        told = f"Tables by votes: {_verdicts(evidence.relevance)}"
        yield Sheet(f"relevance{suffix}", _votes(evidence.relevance), told)
    spend = [usage.model_dump() for usage in evidence.usage] or [{"stage": "none", "calls": 0}]
    yield Sheet(f"spend{suffix}", spend, "Model calls by stage")


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
    return within(rows)


def _key(task_id: str) -> str:
    """The task's part of an artifact key, which takes lower-case letters, digits and dashes only."""
    slug = re.sub(r"[^a-z0-9]+", "-", task_id.casefold()).strip("-")
    return f"-{slug}" if slug else ""


def _rows(table: AnswerTable) -> list[dict[str, Any]]:
    """As many rows as fit; long text is cut."""
    names = unique_names(table.columns)
    return within(
        [
            dict(zip(names, (cell[:_CELL_CHARS] if isinstance(cell, str) else cell for cell in row), strict=True))
            for row in table.rows
        ]
    )
