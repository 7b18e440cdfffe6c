"""Records and lines of several slices of a section → new slices of them, as full as the settings allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.core.llm import tokens
from tasks.core.models.document import PlanColumn, Slice
from tasks.core.sections import ExtractSettings
from tasks.document.slicing.chunks import chunks


def pack(
    slices: Sequence[Slice],
    wanted: Mapping[str, tuple[int, ...] | None],
    columns: tuple[PlanColumn, ...],
    settings: ExtractSettings,
) -> tuple[Slice, ...]:
    """Slices of the wanted records for these columns, key first; None stands for all lines of a record, else lines of the document."""
    source = {record: piece for piece in slices for record in piece.expected if record in wanted}
    records = list(source)
    lines = {record: _lines(piece, record, wanted[record]) for record, piece in source.items()}
    texts = {place: text for piece in slices for (_, text), place in zip(piece.lines, places(piece), strict=True)}

    def fits(run: list[int]) -> bool:
        held = {place for at in run for place in lines[records[at]]}
        return sum(tokens.count(texts[place]) for place in held) <= settings.tokens

    return tuple(
        _slice({records[at]: source[records[at]] for at in run}, lines, columns)
        for run in chunks(records, settings.records, fits=fits)
    )


def places(piece: Slice) -> tuple[int, ...]:
    """Line of the document for each line of a slice."""
    return piece.places or tuple(number for number, _ in piece.lines)


def _lines(piece: Slice, record: str, only: tuple[int, ...] | None) -> tuple[int, ...]:
    place = dict(zip((number for number, _ in piece.lines), places(piece), strict=True))
    own = dict(piece.belongs).get(record, tuple(place))
    return tuple(place[number] for number in own if only is None or place[number] in only)


def _slice(source: dict[str, Slice], lines: dict[str, tuple[int, ...]], columns: tuple[PlanColumn, ...]) -> Slice:
    kept = sorted({place for record in source for place in lines[record]})
    number = {place: at for at, place in enumerate(kept, start=1)}
    text: dict[int, str] = {}
    named: dict[int, tuple[tuple[str, int, int], ...]] = {}
    alike: dict[int, tuple[str, ...]] = {}
    corrects: set[int] = set()
    for piece in {id(piece): piece for piece in source.values()}.values():
        place = dict(zip((n for n, _ in piece.lines), places(piece), strict=True))
        text |= {number[place[n]]: line for n, line in piece.lines if place[n] in number}
        named |= {number[place[n]]: found for n, found in piece.named if place[n] in number}
        alike |= {number[place[n]]: found for n, found in piece.alike if place[n] in number}
        corrects |= {number[place[n]] for n in piece.corrects if place[n] in number}
    called = {record: name for record, piece in source.items() for who, name in piece.called if who == record}
    return next(iter(source.values())).model_copy(
        update={
            "columns": columns,
            "lines": tuple(sorted(text.items())),
            "expected": tuple(source),
            "belongs": tuple((record, tuple(number[place] for place in lines[record])) for record in source),
            "called": tuple(called.items()),
            "named": tuple(sorted(named.items())),
            "alike": tuple(sorted(alike.items())),
            "corrects": tuple(sorted(corrects)),
            "places": tuple(kept),
        }
    )
