"""What patterns read + the verdict on them → their findings, and what the model must read yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.core.models.document import Finding, SliceResult
from tasks.core.models.patterns import Judged, PatternRead, PatternRecord
from tasks.core.wording import counted
from tasks.document.learning.judge import unseen, used

_REASONS = 4


@dataclass(frozen=True)
class Settled:
    """A section, shared out."""

    kept: tuple[PatternRecord, ...]
    """Records that patterns read."""
    rest: tuple[tuple[str, str], ...]
    """(record, why) of those that the model reads, all columns."""
    remarks: dict[str, tuple[int, ...]]
    """Of kept records: lines of the document that the model reads beside."""
    refused: tuple[str, ...]
    """Columns that the model reads of kept records."""


def settle(read: PatternRead, judged: Judged, sample: Sequence[str], columns: Sequence[str]) -> Settled:
    """Who reads what; records of the sample are nobody's: the model has read them."""
    done = set(sample)
    doubted = dict.fromkeys(unseen(read, sample), "a pattern of it decides no sampled cell") | {
        at: "a pattern of it was dropped" for at, _ in judged.dropped
    }
    refused = tuple(name for name, _ in judged.columns)
    kept, rest = [], [(record, why) for record, why in read.rest if record not in done]
    for record in read.records:
        why = next((doubted[at] for at in sorted(used(record)) if at in doubted), "")
        if record.record_id in done:
            continue
        if len(refused) == len(columns):
            why = "no column can be read by patterns"
        if why:
            rest.append((record.record_id, why))
        else:
            kept.append(record)
    names = {record.record_id for record in kept}
    remarks = {record: lines for record, lines in read.remarks if record in names}
    return Settled(tuple(kept), tuple(rest), remarks, refused)


def result(section: str, settled: Settled, problems: Sequence[str]) -> SliceResult:
    """The findings of patterns in the form of a slice's."""
    found = tuple(
        cell.finding for record in settled.kept for cell in record.cells if cell.finding.column not in settled.refused
    )
    listed = tuple(record.record_id for record in settled.kept)
    return SliceResult(section=section, findings=found, listed=listed, problems=tuple(problems))


def corrected(results: Sequence[SliceResult], read: PatternRead, judged: Judged) -> Iterator[SliceResult]:
    """The model's results of the sample; where a second reading sided with the pattern, its finding is in place of theirs."""
    won = {(record.record_id, cell.finding.column): cell.finding for record in read.records for cell in record.cells}
    cells = set(judged.won)
    for one in results:
        own = [f for f in one.findings if f.corrects or (f.record_id, f.column) not in cells]
        own += [won[cell] for cell in judged.won if cell in won and cell[0] in one.listed]
        yield one.model_copy(update={"findings": tuple(own)})


def told(settled: Settled, judged: Judged, sample: int, patterns: int) -> Iterator[str]:
    """What became of the section, for the report."""
    by_model = len(settled.rest) + sample
    why = Counter(_kind(reason) for _, reason in settled.rest).most_common(_REASONS)
    reasons = "; ".join(f"{count}: {reason}" for reason, count in why)
    yield (
        f"{len(settled.kept)} of {len(settled.kept) + by_model} records were read by {patterns} learned patterns, {by_model} by "
        f"the model, {sample} of them as a sample that judged the patterns{f' ({reasons})' if reasons else ''}"
    )
    if settled.remarks:
        yield f"{counted(len(settled.remarks), 'record has', 'records have')} lines elsewhere that the model read beside"
    for name, reason in judged.columns:
        yield f"column {name} was read by the model: {reason}"
    if judged.dropped:
        yield f"{len(judged.dropped)} patterns were dropped: {judged.dropped[0][1]}"


def _kind(reason: str) -> str:
    """The reason without what is the record's own."""
    head, colon, tail = reason.partition(": ")
    return f"doubt about {head}" if colon and tail else reason


def findings_of(results: Sequence[SliceResult]) -> list[Finding]:
    """All findings of these."""
    return [finding for one in results for finding in one.findings]
