"""Cells of a sheet → where its header is, and the type of each column by the kinds of its cells."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from tasks.core.sql.build import Tally, Target
from tasks.core.wording import counted
from tasks.intake.loading import subhead
from tasks.intake.loading.cells import Cell
from tasks.intake.loading.columns import cut
from tasks.intake.loading.columns import decide as decide_text
from tasks.intake.loading.dialect import first_record
from tasks.intake.loading.flat import number_type
from tasks.intake.loading.subhead import Field

_YEAR = re.compile(r"(1[89]|20|21)\d\d")
_VALUES = ("integer", "decimal", "code", "date", "moment", "time", "boolean")


class Layout(NamedTuple):
    """Rows above the header, and whether there is a header."""

    above: int
    header: bool
    notes: tuple[str, ...]


class Kinds:
    """Cells of one column, counted by kind."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.formats: Counter[str] = Counter()
        """Formats of numbers that say percent or money."""
        self.errors: Counter[str] = Counter()

    @property
    def met(self) -> bool:
        """Whether there is any cell."""
        return bool(self.kinds)

    def count(self, cell: Cell) -> None:
        """Take one cell."""
        self.kinds[cell.kind] += 1
        if cell.format:
            (self.errors if cell.kind == "error" else self.formats)[cell.format] += 1


def find(sample: list[tuple[int, list[Cell | None]]]) -> Layout:
    """Seek the header in the first rows: below titles, which fill one cell or few."""
    left = min(next(place for place, cell in enumerate(cells) if cell) for _, cells in sample)
    records = [(number, [_shown(cell) for cell in _trimmed(cells)[left:]]) for number, cells in sample]
    widths = Counter(len(record) for _, record in records)
    width = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))[0]
    above = first_record(records, width)
    cells = [cell for cell in sample[above][1] if cell]
    values = [cell for cell in cells if cell.kind in _VALUES]
    notes: tuple[str, ...] = ()
    if above:
        said = " / ".join(" ".join(part for part in record if part) for _, record in records[:above])
        notes = (f"above the header: {cut(' '.join(said.split()), 200)!r}",)
    if not values or len(values) < 0.5 * len(cells):
        return Layout(above, True, notes)
    named = all(cell.kind == "date" or _YEAR.fullmatch(cell.text or "") for cell in values)
    if named and len(values) < len(cells):
        return Layout(above, True, notes)
    if named and len(sample) > above + 1 and len(values) > 1 and all(cell.kind != "date" for cell in values):
        return Layout(above, True, (*notes, "the first row holds years only and was taken as the names of the columns"))
    return Layout(
        above, False, (*notes, "the first row looks like values, so the columns have no names here and are numbered")
    )


def second(sample: list[tuple[int, list[Cell | None]]]) -> tuple[str, ...]:
    """What is said of the row below a header; `sample` begins with the header."""
    names = [cell.text if cell else None for cell in sample[0][1]]
    rows = [
        [Field(_shown(cell) or "", cell.kind in _VALUES) if cell else None for cell in cells] for _, cells in sample[1:]
    ]
    return subhead.said(sample[1][0], names, rows) if rows else ()


def _trimmed(cells: list[Cell | None]) -> list[Cell | None]:
    last = max(place for place, cell in enumerate(cells) if cell)
    return cells[: last + 1]


def _shown(cell: Cell | None) -> str | None:
    return (cell.text or cell.format or "=") if cell else None


def decide(name: str, found: Kinds, shapes: dict[str, Tally]) -> tuple[Target, tuple[str, ...]]:
    """Type and notes of one column."""
    kinds = {kind: count for kind, count in found.kinds.items() if kind not in ("error", "formula")}
    target, notes = _type(name, kinds, shapes)
    said = [*notes]
    if found.formats:
        said.append(_format_note(found.formats, target))
    if found.errors:
        listed = ", ".join(f"{count:,} {error}" for error, count in found.errors.most_common(3))
        said.append(f"error cells read as NULL: {listed}")
    if formulas := found.kinds["formula"]:
        said.append(
            f"{counted(formulas, 'formula')} without a stored value read as NULL: open and save the file in Excel"
        )
    return target, tuple(said)


def _type(name: str, kinds: dict[str, int], shapes: dict[str, Tally]) -> tuple[Target, tuple[str, ...]]:
    present = set(kinds)
    if not present or present == {"text"}:
        return decide_text(name, shapes, infer=False)
    if present == {"boolean"}:
        return Target(name, "BOOLEAN"), ()
    if present <= {"integer", "decimal"}:
        kind, notes = number_type(present, shapes)
        return Target(name, kind), notes
    if "code" in present and present <= {"code", "integer", "text"}:
        return Target(name), (f"{kinds['code']:,} numbers shown with leading zeros by their format; text, zeros kept",)
    if present <= {"date", "moment"}:
        return Target(name, "DATE" if present == {"date"} else "TIMESTAMP"), ()
    if present == {"time"}:
        return Target(name), ("times of the day or durations; text",)
    target, said = decide_text(name, shapes, infer=True)
    if target.type != "VARCHAR":
        marks = sum(shapes[shape].count for shape in ("mark", "blank") if shape in shapes)
        texts = kinds.get("text", 0) - marks
        return target, (*said, f"{texts:,} numbers or dates that are held as text") if texts > 0 else said
    listed = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    return Target(name), (*said, f"values of several types ({listed}); all as text")


def _format_note(formats: Counter[str], target: Target) -> str:
    code, count = formats.most_common(1)[0]
    if "%" in code:
        return f"{count:,} numbers shown as percent ({code}); kept as stored: 0.125 is 12.5 %"
    return f"{count:,} numbers shown as money ({code})"
