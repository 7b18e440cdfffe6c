"""Extraction patterns that a model wrote for one section of a document, and what they read."""

from __future__ import annotations

from typing import Literal

from tasks.core.models.document import Finding, PlanColumn, SliceResult
from tasks.core.models.run import Usage
from tasks.core.models.value import Value


class Pattern(Value):
    """One regular expression."""

    kind: Literal["value", "absent", "other"]
    """`value` finds a value of its column, `absent` words that say that there is none, `other` words that give no value."""
    column: str = ""
    """Empty for `other`."""
    text: str


class Lesson(Value):
    """What a model sees when it writes patterns."""

    columns: tuple[PlanColumn, ...]
    """Key first."""
    rules: str = ""
    """What the knowledge says about these columns; data."""
    texts: tuple[str, ...] = ()
    """Texts of records; in later rounds only the sentences that no pattern explained so far."""
    first: bool = True
    surveyed: int = 0
    """Records that were looked at."""
    unexplained: int = 0
    """Those of them with words that no pattern explains."""


class Learned(Value):
    """What one round of writing gave."""

    patterns: tuple[Pattern, ...] = ()
    problems: tuple[str, ...] = ()
    usage: Usage = Usage()
    unsettled: Literal["", "stopped", "transient"] = ""


class PatternCell(Value):
    """A value that a pattern found, checked as a model's value is."""

    finding: Finding
    pattern: int
    """Position of the pattern."""


class PatternRecord(Value):
    """A record whose own lines are explained by patterns as a whole."""

    record_id: str
    cells: tuple[PatternCell, ...]
    absent: tuple[tuple[str, int], ...] = ()
    """(column, position of the pattern) where words say that there is no value."""


class PatternRead(Value):
    """What patterns read in one section."""

    records: tuple[PatternRecord, ...]
    rest: tuple[tuple[str, str], ...]
    """(record, why) for each record that patterns do not settle."""
    remarks: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """For records that are settled: lines of the document that patterns are not to read, as corrections and remarks elsewhere."""
    refused: tuple[str, ...] = ()
    """Patterns that cannot be used, and why."""


class Judged(Value):
    """How the patterns' records compare with the model's own extraction of a sample."""

    agreed: dict[str, tuple[int, int]]
    """By column: cells that agree, and cells compared, without those of dropped patterns."""
    columns: tuple[tuple[str, str], ...] = ()
    """(column, why) for each column that is refused."""
    dropped: tuple[tuple[int, str], ...] = ()
    """(position, why) for each pattern that is not believed."""
    won: tuple[tuple[str, str], ...] = ()
    """(record, column) where a second reading sided with the pattern."""


class Extracted(Value):
    """Everything that a section's slices gave, whichever way."""

    results: tuple[SliceResult, ...]
    patterns: Usage = Usage()
    """What writing patterns took."""
