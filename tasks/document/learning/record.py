"""A record's own lines + patterns → its values, or why the model must read it.

A value of a pattern passes what a model's value passes: it stands in its line whole, no clause of another record holds
it, no words beside it speak against its column, and it can be read to the column's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tasks.core.models.document import ColumnType, Finding, PlanColumn
from tasks.core.models.patterns import Pattern, PatternCell, PatternRecord
from tasks.core.values.door import read_value
from tasks.document.extracting import quote
from tasks.document.extracting.owner import Naming
from tasks.document.learning.clauses import Span, unexplained
from tasks.document.learning.match import Match, Matcher
from tasks.document.learning.own import Own
from tasks.document.normalising.reading import same
from tasks.document.records.anchors import plain

_TEXT_CHARS = 80
_PARTS = "。；;！？!?\n|"
"""No value of a text column has these in it."""


class _Value(NamedTuple):
    pattern: int
    place: quote.Place
    line: int


@dataclass
class Outcome:
    """What patterns make of a record."""

    record: PatternRecord | None = None
    why: str = ""
    open: list[tuple[str, Span]] = field(default_factory=list)
    """Line and clause that no pattern explains."""


def read_record(own: Own, columns: Sequence[PlanColumn], patterns: Sequence[Pattern], matcher: Matcher) -> Outcome:
    """The record with a value or none for each column, if every clause of its lines is explained and nothing is doubtful."""
    by_name = {column.name: column for column in columns}
    values: dict[str, list[_Value]] = {}
    absent: dict[str, int] = {}
    outcome = Outcome()
    for number, line in own.lines:
        matches = matcher.matches(line.line)
        used, doubt = _values(line, number, (own.record, by_name, patterns, matches), values)
        if doubt:
            return Outcome(why=doubt)
        taken = [match.value for match in used]
        others = [m for m in matches if patterns[m.pattern].kind != "value" and not _over((m.start, m.end), taken)]
        for match in others:
            if patterns[match.pattern].kind == "absent":
                absent.setdefault(patterns[match.pattern].column, match.pattern)
        names = _own_names(line, own.record)
        valued, told = ([(match.start, match.end) for match in found] for found in (used, others))
        outcome.open += [(line.line, span) for span in unexplained(line.line, valued, told, names)]
    if outcome.open:
        outcome.why = "words of it are explained by no pattern"
        return outcome
    return _settled(own, by_name, values, absent)


def readable(raw: str, kind: ColumnType, unit: str) -> bool:
    """Whether the library reads the text to the column's type, or may with what the knowledge says: words without a digit."""
    if kind == "text" or not any(char.isdigit() for char in raw):
        return len(raw) <= _TEXT_CHARS and not any(mark in raw for mark in _PARTS)
    reading = read_value(raw, kind, unit)
    return reading.value is not None or reading.undecided


def equal(a: str, b: str, column: PlanColumn) -> bool:
    """Whether two texts give the same value in a column; of words that the library does not read one may hold the other."""
    one, other = (read_value(raw, column.type, column.unit) for raw in (a, b))
    if one.value is None and other.value is None:
        short, long = sorted((plain(a).casefold(), plain(b).casefold()), key=len)
        return bool(short) and short in long
    return one.value is not None and other.value is not None and same(_folded(one.value), _folded(other.value))


def _is_read(raw: str, column: PlanColumn) -> bool:
    return read_value(raw, column.type, column.unit).value is not None


def _folded(value: object) -> str | int | float | bool:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value  # type: ignore[return-value]


def _values(
    line: Naming,
    number: int,
    given: tuple[str, dict[str, PlanColumn], Sequence[Pattern], list[Match]],
    values: dict[str, list[_Value]],
) -> tuple[list[Match], str]:
    """The value matches that count, noted in `values`, and the first doubt about one."""
    record, columns, patterns, matches = given
    used: list[Match] = []
    told = [(match.start, match.end) for match in matches if patterns[match.pattern].kind != "value"]
    for match in matches:
        pattern = patterns[match.pattern]
        column = columns.get(pattern.column)
        if pattern.kind != "value" or column is None:
            continue
        place = quote.at(line, match.value, record, column)
        if place is None or not readable(place.written, column.type, column.unit):
            continue
        if _over(match.value, told) and not _is_read(place.written, column):
            continue  # words, and others of its expressions explain them
        if place.doubt:
            return used, f"{column.name}: {place.doubt}"
        if plain(place.written) == plain(record) and _over((place.start, place.end), _own_names(line, record)):
            return used, f"{column.name}: it is the record's own id"
        used.append(match)
        values.setdefault(column.name, []).append(_Value(match.pattern, place, number))
    return used, ""


def _own_names(line: Naming, record: str) -> list[Span]:
    return [(name.start, name.end) for name in line.names if name.record == record]


def _over(span: Span, taken: Sequence[Span]) -> bool:
    return any(span[0] < high and low < span[1] for low, high in taken)


def _settled(
    own: Own, columns: dict[str, PlanColumn], values: dict[str, list[_Value]], absent: dict[str, int]
) -> Outcome:
    """The record, unless patterns disagree among themselves."""
    spans: dict[tuple[int, int, int], str] = {}
    cells = []
    for name, every in values.items():
        column = columns[name]
        read = [value for value in every if _is_read(value.place.written, column)]
        found = read or every
        best = max(found, key=lambda value: len(value.place.written))
        if any(not equal(best.place.written, value.place.written, column) for value in found):
            texts = list(dict.fromkeys(value.place.written for value in found))
            return Outcome(why=f"{name}: patterns find {' and '.join(map(repr, texts[:3]))}")
        if name in absent:
            return Outcome(why=f"{name}: patterns find a value, and words that there is none")
        place = best.place
        if (other := spans.setdefault((best.line, place.start, place.end), name)) != name:
            return Outcome(why=f"{name}: the same words are taken for {other}")
        finding = Finding(record_id=own.record, column=name, raw=place.written, quote=place.quote, line=best.line)
        cells.append(PatternCell(finding=finding, pattern=best.pattern))
    return Outcome(record=PatternRecord(record_id=own.record, cells=tuple(cells), absent=tuple(absent.items())))
