"""evidence.json + derived/ + truth → how right the choice of documents and tables was, before and in the query."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tasks.benchmark.scoring.truth import Truth
from tasks.core.models.benchmark import Measure
from tasks.core.models.evidence import Evidence


def score_documents(drawn: Iterable[str], truth: Truth) -> tuple[Measure, ...]:
    """Documents that were drawn, by stem, against those that the question needs."""
    given, wanted = _folded(drawn), _folded(truth.relevant_docs)
    right = len(given & wanted)
    return (
        Measure(stage="documents", metric="precision", right=right, of=len(given)),
        Measure(stage="documents", metric="recall", right=right, of=len(wanted)),
    )


def score_tables(evidence: Evidence, truth: Truth) -> tuple[Measure, ...]:
    """Needed tables of the sources that the first prompt described and that the query reads; where a vote
    chose, also how many of the chosen ones are needed."""
    wanted = _folded(truth.relevant_tables)
    shown = _folded(name for origin in evidence.sources for name in origin.tables)
    shown -= _folded(table.name for table in evidence.folded)
    used = _folded(table.name for table in evidence.used if not _is_drawn(table.name, evidence))
    found = [
        Measure(stage="tables", metric="recall", right=len(wanted & shown), of=len(wanted)),
        Measure(stage="tables", metric="read by the query", right=len(wanted & used), of=len(wanted)),
    ]
    if evidence.relevance and not evidence.relevance.off and not evidence.relevance.error:
        chosen = _folded(evidence.relevance.relevant_tables) - _folded(evidence.relevance.always_keep)
        found.insert(1, Measure(stage="tables", metric="precision", right=len(wanted & chosen), of=len(chosen)))
    return tuple(found)


def stems(folder: Path) -> list[str]:
    """Documents of which a run drew tables."""
    return sorted(path.stem for path in (folder / "derived").glob("*.sqlite"))


def _is_drawn(name: str, evidence: Evidence) -> bool:
    return any(use.table == name for use in evidence.drawn)


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
