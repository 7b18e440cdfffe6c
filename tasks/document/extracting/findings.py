"""What replies said about a slice → findings: each value as its line has it, with every doubt whether it is the record's.

A value is looked for in the lines that may speak of its record; a word of the model that it corrects another one counts
only where the text corrects something there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tasks.core.models.document import Finding, PlanColumn, Slice
from tasks.core.wording import counted
from tasks.document.extracting import quote
from tasks.document.extracting.entries import Entry
from tasks.document.extracting.owner import Name, Naming, naming
from tasks.document.records.anchors import plain
from tasks.document.records.corrections import corrects, names_column
from tasks.document.records.names import id_places

_RAW_CHARS, _NAME_CHARS = 500, 80
_TELLING = 4
"""Digits from which on a bare number in a line is an id and no amount."""


class _Found(NamedTuple):
    finding: Finding
    place: quote.Place | None
    named: int
    """Where the line names the record; -1 where it does not."""


def findings(piece: Slice, said: Sequence[tuple[Entry, bool]]) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """One for each value, what is said twice once, and what is wrong with what was said."""
    columns = {column.name.casefold(): column for column in piece.columns}
    lines = namings(piece)
    problems: list[str] = []
    found: dict[tuple[str, str, str, int], _Found] = {}
    for entry, claims in said:
        for cell in entry.cells:
            column = columns.get(cell.column.strip().casefold())
            if column is None:
                problems.append(f"a reply names a column that was not asked for: {cell.column[:_NAME_CHARS]!r}")
            elif column.name != piece.key:
                one = _found(piece, lines, entry, (column, cell.value, claims))
                mark = (entry.id, column.name, one.finding.raw, one.finding.line)
                if mark not in found or claims:
                    found[mark] = one
    kept = _corrections(piece, lines, _in_order(list(found.values())))
    if lost := sum(one.finding.corrects for one in found.values()) - sum(finding.corrects for finding in kept):
        problems.append(
            f"the model gave {counted(lost, 'value as a correction', 'values as corrections')} where the text corrects nothing: they count as any other"
        )
    return kept, tuple(problems)


def namings(piece: Slice) -> dict[int, Naming]:
    """Each line with the records that it names: by the anchors, by an id that is no amount, by another name."""
    anchored, belongs = dict(piece.named), dict(piece.belongs)
    ids = [record for record in piece.expected if _is_telling(record)]
    made = {}
    for number, text in piece.lines:
        names = [Name(*place) for place in anchored.get(number, ())]
        names += [Name(record, *span) for record in ids for span in id_places(text, record)]
        for record, called in piece.called:
            at = text.find(called) if number in belongs.get(record, (number,)) else -1
            while at >= 0:
                names.append(Name(record, at, at + len(called)))
                at = text.find(called, at + 1)
        made[number] = naming(text, names)
    return made


def _is_telling(record: str) -> bool:
    return len(record) >= _TELLING if record.isdigit() else len(record) > 1


def _found(piece: Slice, lines: Mapping[int, Naming], entry: Entry, said: tuple[PlanColumn, str, bool]) -> _Found:
    column, raw, claims = said
    own = next((numbers for record, numbers in piece.belongs if record == entry.id), ())
    near = {number: lines[number] for number in own if number in lines} or lines
    place = quote.nearest(raw, entry.line, near, entry.id, column)
    finding = Finding(
        record_id=entry.id,
        column=column.name,
        raw=place[1].written if place else raw[:_RAW_CHARS],
        quote=place[1].quote if place else "",
        line=place[0] if place else entry.line,
        corrects=claims,
        found=place is not None,
        doubt=place[1].doubt or _own_id(near[place[0]], place[1], entry.id) if place else "",
    )
    return _Found(finding, place and place[1], near[place[0]].first(entry.id) if place else -1)


def _own_id(line: Naming, place: quote.Place, record: str) -> str:
    """Why a value is hardly one: it is the id that the line names the record by."""
    named = any(name.record == record and name.start < place.end and place.start < name.end for name in line.names)
    return "it is the record's own id" if named and plain(place.written) == plain(record) else ""


def _in_order(found: list[_Found]) -> list[Finding]:
    """Doubts values of a list of records that stand in another order than the records."""
    lists: dict[tuple[int, int, str], list[_Found]] = defaultdict(list)
    for one in found:
        if one.place and one.place.shared >= 0 and one.named >= 0:
            lists[one.finding.line, one.place.shared, one.finding.column].append(one)
    crossed = {
        id(one)
        for group in lists.values()
        for one in group
        for other in group
        if one.place and other.place and (one.named - other.named) * (one.place.start - other.place.start) < 0
    }
    note = "values and records stand in another order in this line"
    return [
        one.finding.model_copy(update={"doubt": note}) if id(one) in crossed and not one.finding.doubt else one.finding
        for one in found
    ]


def _corrections(piece: Slice, lines: Mapping[int, Naming], found: list[Finding]) -> tuple[Finding, ...]:
    """The findings; one that claims to correct does so by its line's words, or as a later line about the same cell."""
    columns = {column.name: column for column in piece.columns}
    kept = []
    for finding in found:
        if finding.corrects and finding.found:
            text = lines[finding.line].line
            earlier = any(
                other.found and other.line < finding.line
                for other in found
                if (other.record_id, other.column) == (finding.record_id, finding.column)
            )
            again = lines[finding.line].names_record(finding.record_id) and names_column(text, columns[finding.column])
            if not (corrects(text) or finding.line in piece.corrects or (earlier and again)):
                finding = finding.model_copy(update={"corrects": False})
        kept.append(finding)
    return tuple(kept)
