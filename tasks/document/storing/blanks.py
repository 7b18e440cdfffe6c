"""Plan, merged cells → why a cell has no value: not read, not asked because no line names the record, or the model named none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from tasks.core.models.document import Merged, Place, Plan
from tasks.document.records.anchors import plain
from tasks.document.storing.settle import IDLE, NOTHING, UNASKED, UNREAD, Settled, with_unfound
from tasks.document.storing.table import place_of

_LINES = 5
"""Lines that a note names."""


class Blanks:
    """What is said of cells without a value, and what was given for them in vain."""

    def __init__(self, plan: Plan, merged: Merged, places: Sequence[Place]) -> None:
        self._section = {name: section.id for section in plan.sections for name in section.columns}
        self._unread, self._unasked = frozenset(merged.unread), frozenset(merged.unasked)
        self._idle = frozenset(merged.idle)
        self._unfound: dict[tuple[str, str], list[str]] = defaultdict(list)
        for record, column, raw in merged.unfound:
            self._unfound[record, column].append(raw)
        self._named: dict[tuple[str, str], list[int]] = defaultdict(list)
        for mention in sorted(plan.mentions, key=lambda mention: mention.line):
            line = place_of(mention.line, places).line
            for section in plan.sections:
                named = self._named[plain(mention.record_id), section.id]
                if section.start_line <= mention.line <= section.end_line and line not in named:
                    named.append(line)

    def told(self, record: str, column: str, settled: Settled | None) -> Settled:
        """The cell, with its reason where it is None."""
        texts = self._unfound.get((record, column), ())
        if settled is None:
            settled = NOTHING if texts else self._blank(record, self._section.get(column, ""))
        return with_unfound(settled, texts)

    def _blank(self, record: str, section: str) -> Settled:
        if (record, section) in self._unread:
            return UNREAD
        lines = _listed(self._named.get((plain(record), section), ()))
        if not section or section in self._idle:
            return IDLE
        if (record, section) in self._unasked:
            here = f"nothing was asked about the record here, though {lines} names it" if lines else ""
            return replace(UNREAD, note=here, asked=False) if here else UNASKED
        if lines:
            return replace(NOTHING, note=f"the text has lines of this record ({lines}), and the model named no value")
        return replace(
            NOTHING, note="the lines read for this column do not have the record's id; the model named no value"
        )


def _listed(lines: Sequence[int]) -> str:
    """`line 3`, `lines 3, 7`; empty for none."""
    more = f" and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
    shown = ", ".join(map(str, lines[:_LINES])) + more
    return f"line{'s' * (len(lines) > 1)} {shown}" if lines else ""
