"""Lines of a document + plan → which records each line speaks of, and what the lines call them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tasks.core.models.document import Plan
from tasks.core.sections import ExtractSettings
from tasks.document.records.anchors import Finder, one_width
from tasks.document.records.corrections import corrects
from tasks.document.records.names import Likeness, belonging, full_sentences, names_id, sentences, share, shared, words

HEADING = re.compile(r"\s*(?:#|\|?\s*[-:|]+\s*\|?\s*$)")
_TITLE = re.compile(r"\s*#{1,6}\s")
_OWN_LINES = 1
"""First lines that name a record: its other names stand there, later ones would add turns of phrase."""


@dataclass
class Text:
    """The document's lines with the records that they speak of."""

    lines: list[str]
    plan: Plan
    settings: ExtractSettings
    records: tuple[str, ...] = ()
    named: dict[int, list[str]] = field(default_factory=dict)
    """Line → records that it names by id."""
    alike: dict[int, Likeness] = field(default_factory=dict)
    """Line without an id → records that it names in another way."""
    beside: dict[int, Likeness] = field(default_factory=dict)
    """Line with an id → other records that its sentences without one seem to name."""
    own: dict[str, str] = field(default_factory=dict)
    """Each record's own text, where its other names stand."""
    mended: frozenset[int] = frozenset()
    """Lines under a heading of corrections."""
    finder: Finder = field(default_factory=lambda: Finder(()))

    def __post_init__(self) -> None:
        named: dict[int, list[str]] = defaultdict(list)
        for mention in self.plan.mentions:
            if 0 < mention.line <= len(self.lines):
                named[mention.line].append(mention.record_id)
        self.named = dict(named)
        most = self.settings.max_records
        records = one_width(self.plan.universe)
        self.records = records[:most] if most else records
        self.finder = Finder(self.plan.anchors)
        silent = {
            number: line
            for number, line in enumerate(self.lines, start=1)
            if line.strip() and number not in named and not HEADING.match(line)
        }
        own = self._own()
        self.own = dict(own)
        self.alike = belonging(silent, own)
        unnamed = {number: self._rest(number, records) for number, records in named.items()}
        self.beside = belonging(unnamed, own)
        self.mended = frozenset(self._mended())

    def text(self, number: int) -> str:
        return self.lines[number - 1]

    def of(self, number: int) -> tuple[str, ...]:
        """Records of a line."""
        alike = self.alike.get(number)
        return tuple(self.named.get(number, ())) or (tuple(alike.records) if alike else ())

    def called(self, record: str, numbers: set[int]) -> str:
        """What those of the lines call the record that do not name its id; empty when nothing is known.

        The sentence that names the id has the record's other names as a rule; what comes after it may be anything.
        """
        own = self.own.get(record, "")
        naming = next((part for part in full_sentences(own) if names_id(part, record)), "")
        is_named = any(record in self.named.get(number, ()) for number in numbers)
        for text in (naming,) if is_named else (naming, own):
            names = Counter[str]()
            for number in sorted(numbers):
                alike = self.beside.get(number) if number in self.named else self.alike.get(number)
                if record not in self.named.get(number, ()) and alike and record in alike.records:
                    line = self.text(number)
                    names[shared(text, line, sorted(words(text) & words(line)))] += 1
            sharing = {name: sum(name in other for other in self.own.values()) for name in names if name}
            if sharing:
                return min(sharing, key=lambda name: (sharing[name], -names[name], -len(name)))
        return ""

    def _own(self) -> list[tuple[str, str]]:
        """Each record with the sentences that name it first."""
        seen: dict[str, int] = defaultdict(int)
        own = []
        for number, records in sorted(self.named.items()):
            for record in records:
                seen[record] += 1
                if seen[record] <= _OWN_LINES:
                    own.append((record, share(self.text(number), record, set(records) - {record})))
        return own

    def _rest(self, number: int, records: list[str]) -> str:
        return " ".join(
            part for part in sentences(self.text(number)) if not any(names_id(part, record) for record in records)
        )

    def _mended(self) -> Iterator[int]:
        under = False
        for number, line in enumerate(self.lines, start=1):
            if _TITLE.match(line):
                under = corrects(line)
            elif under:
                yield number
