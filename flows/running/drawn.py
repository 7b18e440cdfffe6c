"""What was drawn from documents → artifacts of the run: votes on the documents, plan and quality of each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tasks.artifacts import Sheet, Shown, within
from tasks.core.models.document import Derivation, Verdicts

_QUALITY = ("name", "type", "unit", "verified", "derived", "unverified", "conflict", "missing", "unread")
_CELL_CHARS = 500


def sheets(derivation: Derivation) -> Iterator[Shown]:
    """Only those that have rows."""
    if derivation.relevance:
        yield Sheet("documents-relevance", within(_votes(derivation, derivation.relevance)), "Documents by votes")
    if derivation.tables:
        yield Sheet("documents", within(_qualities(derivation)), "Cells by status, one row per column")


def _votes(derivation: Derivation, verdicts: Verdicts) -> list[dict[str, Any]]:
    """A row for each judged document, those that were read first."""
    outcomes = dict(derivation.outcomes)
    return [
        {
            "document": stem,
            "verdict": "relevant" if verdicts.per_item[stem] else "left out",
            "tally": verdicts.vote_tally.get(stem, ""),
            "reason": verdicts.reasons.get(stem, "")[:_CELL_CHARS],
            "no table": outcomes.get(stem, "")[:_CELL_CHARS] if verdicts.per_item[stem] else "",
        }
        for stem in sorted(verdicts.per_item, key=lambda stem: not verdicts.per_item[stem])
    ]


def _qualities(derivation: Derivation) -> list[dict[str, Any]]:
    return [
        {"table": table.table, "records": table.records, **column.model_dump(include=set(_QUALITY))}
        for table in derivation.tables
        for column in table.columns
    ]
