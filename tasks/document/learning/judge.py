"""What patterns read + the model's extraction of a sample → which columns and patterns are believed.

The two must agree cell by cell, an empty cell too. Cells in dispute are asked once more, on their own: a second reply
that sides with the pattern settles it. A pattern that only disagrees is dropped; a column whose agreement may be below
the bar (Wilson's lower bound) is refused.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tasks.core.learning import PatternSettings
from tasks.core.models.document import Finding, PlanColumn
from tasks.core.models.patterns import Judged, PatternRead, PatternRecord
from tasks.core.values.door import read_value
from tasks.document.learning.record import equal

_Z = 1.2816
"""Of the normal distribution: nine times in ten the true share is above the bound."""
_AT_ODDS = 0.34
"""Share of a pattern's cells in dispute from which on it is dropped."""

Cell = tuple[str, str]
"""Record and column."""


def said(findings: Iterable[Finding], columns: Sequence[PlanColumn]) -> dict[Cell, list[str]]:
    """What the model found in the text for each cell, corrections and words for nothing left out."""
    by_name = {column.name: column for column in columns}
    found: dict[Cell, list[str]] = defaultdict(list)
    for finding in findings:
        column = by_name.get(finding.column)
        if not finding.found or finding.corrects or column is None:
            continue
        if read_value(finding.raw, column.type, column.unit).status != "missing":
            found[finding.record_id, finding.column].append(finding.raw)
    return found


def disputed(
    read: PatternRead, sample: Iterable[str], first: Mapping[Cell, list[str]], columns: Sequence[PlanColumn]
) -> list[Cell]:
    """Cells of sampled records where patterns and model differ."""
    wanted = set(sample)
    return [
        (record.record_id, column.name)
        for record in read.records
        if record.record_id in wanted
        for column in columns
        if not _agree(_raw(record, column.name), first.get((record.record_id, column.name), []), column)
    ]


def judge(
    read: PatternRead,
    sample: Iterable[str],
    words: tuple[Mapping[Cell, list[str]], Mapping[Cell, list[str]]],
    columns: Sequence[PlanColumn],
    settings: PatternSettings,
) -> Judged:
    """The verdict, by the model's `words` on all sampled cells and its second ones on those in dispute."""
    records = {record.record_id: record for record in read.records}
    known = [records[record] for record in sample if record in records]
    by_name = {column.name: column for column in columns}
    first = disputed(read, sample, words[0], columns)
    lost = {
        (record, name)
        for record, name in first
        if not _agree(_raw(records[record], name), words[1].get((record, name), []), by_name[name])
    }
    dropped = _dropped(known, lost)
    agreed = _agreed([r for r in known if not used(r) & set(dropped)], lost, columns)
    refused = tuple(
        (name, f"{good} of {count} sampled cells agree with the model")
        for name, (good, count) in agreed.items()
        if lower_bound(good, count) < settings.bar
    )
    won = tuple(cell for cell in first if cell not in lost)
    return Judged(agreed=agreed, columns=refused, dropped=tuple(sorted(dropped.items())), won=won)


def used(record: PatternRecord) -> set[int]:
    """Patterns that decided a cell of the record."""
    return {cell.pattern for cell in record.cells} | {at for _, at in record.absent}


def unseen(read: PatternRead, sample: Iterable[str]) -> Counter[int]:
    """Patterns that decided no cell of the sample, with the number of records that rest on them."""
    wanted = set(sample)
    seen = {at for record in read.records if record.record_id in wanted for at in used(record)}
    return Counter(at for record in read.records for at in used(record) if at not in seen)


def more(read: PatternRead, sample: Sequence[str], most: int) -> list[str]:
    """Further records for the sample: each shows patterns that decide at least two records and that it has not shown."""
    chosen: list[str] = []
    while len(chosen) < most:
        open_ones = unseen(read, (*sample, *chosen))
        worth = {
            record.record_id: sum(open_ones[at] for at in used(record) if at in open_ones) for record in read.records
        }
        best = max(worth, key=lambda record: worth[record], default="")
        if not best or worth[best] < 2:
            break
        chosen.append(best)
    return chosen


def lower_bound(good: int, count: int) -> float:
    """Wilson's lower bound of a share; 0 where nothing was compared."""
    if not count:
        return 0.0
    share, square = good / count, _Z * _Z
    spread = _Z * math.sqrt((share * (1 - share) + square / (4 * count)) / count)
    return (share + square / (2 * count) - spread) / (1 + square / count)


def _raw(record: PatternRecord, column: str) -> str | None:
    return next((cell.finding.raw for cell in record.cells if cell.finding.column == column), None)


def _agree(raw: str | None, told: Sequence[str], column: PlanColumn) -> bool:
    if raw is None:
        return not told
    if read_value(raw, column.type, column.unit).status == "missing":
        return not told or any(equal(raw, other, column) for other in told)
    return any(equal(raw, other, column) for other in told)


def _dropped(records: Sequence[PatternRecord], lost: set[Cell]) -> dict[int, str]:
    uses: Counter[int] = Counter()
    against: Counter[int] = Counter()
    for record in records:
        decided = [(cell.finding.column, cell.pattern) for cell in record.cells] + list(record.absent)
        for column, at in decided:
            uses[at] += 1
            against[at] += (record.record_id, column) in lost
    return {
        at: f"{count} of its {uses[at]} sampled cells are not what the model read"
        for at, count in against.items()
        if count and count >= _AT_ODDS * uses[at]
    }


def _agreed(
    records: Sequence[PatternRecord], lost: set[Cell], columns: Sequence[PlanColumn]
) -> dict[str, tuple[int, int]]:
    return {
        column.name: (sum((r.record_id, column.name) not in lost for r in records), len(records)) for column in columns
    }
