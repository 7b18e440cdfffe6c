"""A slice → for each of its records the lines that speak of it alone, those left to the model, or why all of it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.core.models.document import PlanSection, Slice
from tasks.document.extracting.findings import namings
from tasks.document.extracting.owner import Naming
from tasks.document.records.corrections import corrects


@dataclass(frozen=True)
class Own:
    """A record and its lines."""

    record: str
    lines: tuple[tuple[int, Naming], ...] = ()
    """Line of the document, and the line with the records that it names."""
    remarks: tuple[int, ...] = ()
    """Lines of the document that speak of it elsewhere, correct something, or name it beside others."""
    why: str = ""
    """Why no pattern may read it; empty where one may."""


def own_lines(piece: Slice, section: PlanSection) -> Iterator[Own]:
    """One for each expected record, in the slice's order."""
    names = namings(piece)
    anchored = {number: {record for record, _, _ in found} for number, found in piece.named}
    alike = dict(piece.alike)
    sharing = Counter(number for _, numbers in piece.belongs for number in numbers)
    places = _places(piece)
    for record, numbers in piece.belongs:
        own, remarks, why, is_named = [], [], "", False
        for number in numbers:
            line, place = names[number], places[number]
            of = anchored.get(number, set())
            if not section.start_line <= place <= section.end_line or corrects(line.line) or number in piece.corrects:
                remarks.append(place)
            elif of == {record} or (not of and alike.get(number) == (record,)):
                own.append((place, line))
                is_named = True
            elif record in of or record in alike.get(number, ()):
                why = "its line names other records too"
            elif of:
                remarks.append(place)
            elif number not in alike:
                own.append((place, line))
                why = why or ("a line may be its or another record's" if sharing[number] > 1 else "")
        why = why or ("" if is_named else "no line names it alone")
        yield Own(record, tuple(own), tuple(remarks), why)


def _places(piece: Slice) -> dict[int, int]:
    """Line of the document by number of the line."""
    return dict(zip((n for n, _ in piece.lines), piece.places or [n for n, _ in piece.lines], strict=True))
