"""Cells of an answer that were followed to a document + the true lines → how many stand where the evidence says."""

from __future__ import annotations

from tasks.benchmark.scoring.cells import pair_columns
from tasks.benchmark.scoring.truth import Truth
from tasks.core.models.benchmark import Measure
from tasks.core.models.evidence import Evidence


def score_evidence(evidence: Evidence, truth: Truth) -> tuple[Measure, ...]:
    """Of the answer's cells that lead to a document: those whose record, column and line are the true ones; and
    whether the answer, run once more from its inputs, was the same."""
    stems = {use.table: stem for use in evidence.drawn for stem in truth.docs if _same(use.table, stem)}
    right = of = 0
    for answer in evidence.cells:
        table = truth.docs.get(stems.get(answer.table, ""))
        if table is None or not answer.cell.line:
            continue
        names = {given: column for column, given in pair_columns([answer.cell.column], table.columns).items()}
        true = table.source_lines.get(answer.cell.record, {}).get(names.get(answer.cell.column, ""))
        if true is not None:
            of += 1
            right += true == answer.cell.line
    return (Measure(stage="evidence", metric="answer's cells traced", right=right, of=of),)


def score_replay(evidence: Evidence) -> tuple[Measure, ...]:
    """Whether the answer was the same when it was run once more from the stored inputs."""
    replay = evidence.replay
    return () if replay is None else (Measure(stage="evidence", metric="replay equal", right=replay.equal, of=1),)


def _same(table: str, stem: str) -> bool:
    return table.casefold() in (stem.casefold(), f"table_{stem}".casefold())
