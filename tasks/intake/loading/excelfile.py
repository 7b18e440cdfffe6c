"""Excel file → one typed table a sheet: header found below titles, codes with their zeros, dates as dates."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from tasks.core.errors import InputError
from tasks.core.models.catalogue import Column
from tasks.core.sql.build import Builder, Draft, Target
from tasks.core.sql.names import unique_names
from tasks.core.wording import counted
from tasks.intake.loading import archive, blocks, books, grid, legacy, ooxml
from tasks.intake.loading.aside import Aside
from tasks.intake.loading.cells import Cell
from tasks.intake.loading.columns import SHAPE, cut
from tasks.intake.loading.part import Loaded, Part

_SAMPLE = 400
"""Rows that the header is sought in."""
_BATCH_CELLS = 200_000
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LEGACY = b"\xd0\xcf\x11\xe0"
Row = tuple[int, list[Cell | None]]


def load(path: Path, stored: str, builder: Builder) -> Loaded:
    """Load every sheet as `<stored>_0` …; what of them holds nothing is told. Raises InputError when it is no workbook."""
    with contextlib.closing(_open(path)) as book:
        parts: list[Part] = []
        filled = 0
        unread: list[str] = []
        for sheet in book.sheets:
            if not sheet.path:
                unread.append(f"sheet {sheet.name!r} is a chart or a macro")
                continue
            made = list(_load_sheet(book, sheet, _Place(builder, stored, len(parts))))
            parts += made
            filled += bool(made)
            if not made:
                unread.append(f"sheet {sheet.name!r} is empty")
    if not parts:
        raise InputError("; ".join(unread) or "the workbook holds no sheet")
    if filled == 1:
        first = parts[0].name
        parts = [part.model_copy(update={"name": path.stem + part.name.removeprefix(first)}) for part in parts]
    if len(parts) == 1:
        parts = [parts[0].model_copy(update={"inner": ""})]
    return Loaded(parts=tuple(parts), unread=tuple(unread))


def _open(path: Path) -> Any:
    with path.open("rb") as file:
        head = file.read(8)
        if head.startswith(_LEGACY) and _ENCRYPTED in file.read():
            raise InputError("it is encrypted: save it without a password")
    if not head:
        raise InputError("the file is empty")
    if head.startswith(b"PK"):
        opened = archive.unpack(path)
        if archive.kind(opened) == "xlsx":
            return ooxml.Book(opened)
        opened.close()
    elif not head.startswith((_LEGACY, b"\x09")):  # the latter begins files of Excel 2 to 4
        raise InputError("no Excel workbook, or a damaged one")
    else:
        with contextlib.suppress(legacy.NotRead):
            return legacy.Book(path)
    return books.Book(path)


class _Place(NamedTuple):
    """Where the tables of a sheet go: `<stored>_<first>` and on."""

    builder: Builder
    stored: str
    first: int


def _load_sheet(book: Any, sheet: ooxml.Sheet, place: _Place) -> list[Part]:
    """Every table of a sheet; mostly there is one."""
    rows: Iterator[Row] = book.rows(sheet)
    sample = list(islice(rows, _SAMPLE))
    division = blocks.divide(sample, rows)
    made: list[Part] = []
    for span in division.spans if sample else ():
        stack = blocks.Stack(span.of(_again(book, sheet)) if division.again else chain(sample, rows))
        for each in stack.tables():
            at = place.first + len(made)
            part = _load_table(each, stack, f"{place.stored}_{at}", place.builder)
            made.append(part.model_copy(update={"inner": f"{blocks.letters(span.first)}{part.inner}"}))
    return [_named(part, at, len(made), sheet, division.doubt) for at, part in enumerate(made)]


def _named(part: Part, at: int, count: int, sheet: ooxml.Sheet, doubt: str) -> Part:
    """With the name of its sheet, the second one as `<sheet>_2`, and what is known when all of the sheet has been read."""
    name = sheet.name.strip() or "sheet"
    notes = [*part.notes, *([doubt] if doubt else []), *_say(sheet, part)]
    if count == 1:
        return part.model_copy(update={"name": name, "inner": sheet.name, "notes": tuple(notes)})
    told = f"one of {count} tables on the sheet; it begins at {part.inner}"
    return part.model_copy(
        update={
            "name": f"{name}_{at + 1}" if at else name,
            "inner": f"{sheet.name}!{part.inner}",
            "notes": (told, *notes),
        }
    )


def _again(book: Any, sheet: ooxml.Sheet) -> Iterator[Row]:
    """All rows once more; what is counted on the way shall not be counted twice."""
    sheet.merged, sheet.hidden_rows = [], 0
    found: Iterator[Row] = book.rows(sheet)
    return found


def _load_table(rows: Iterator[Row], stack: blocks.Stack, stored: str, builder: Builder) -> Part:
    sample = list(islice(rows, _SAMPLE))
    layout = grid.find(sample)
    aside = Aside(builder, stored)
    for number, cells in sample[: layout.above]:
        aside.add(number, " | ".join(cell.text or cell.format for cell in cells if cell), "above the header")
    body = chain(sample[layout.above + layout.header :], rows)
    header = sample[layout.above][1] if layout.header else []
    reading = _Reading(builder.draft(len(header)), sample[layout.above][0] if layout.header else 0)
    reading.fill(body)
    columns, targets, notes = reading.decide(header)
    notes += grid.second(sample[layout.above :]) if layout.header else ()
    reading.draft.settle(stored, targets)
    if stack.doubts:
        notes.append(
            f"after {len(stack.doubts):,} blank rows stands what may be the names of another table (row "
            f"{stack.doubts[0]:,} first); read as rows of this one"
        )
    return Part(
        stored=stored,
        name="",
        inner=str(sample[0][0]),
        columns=columns,
        rows=builder.count(stored),
        set_aside=aside.close(),
        titles=layout.above,
        notes=(*layout.notes, *notes, *reading.say()),
    )


def _say(sheet: ooxml.Sheet, part: Part) -> list[str]:
    said = []
    if sheet.hidden:
        said.append("a hidden sheet")
    if sheet.hidden_rows:
        said.append(f"{sheet.hidden_rows:,} hidden rows are in it, as those of a filter")
    if sheet.merged:
        said.append(
            f"{len(sheet.merged):,} merged ranges such as {sheet.merged[0]}: the value stands in the first cell of each, "
            "the others are NULL"
        )
    if sheet.zeros and any(column.type in ("BIGINT", "HUGEINT") for column in part.columns):
        said.append(
            f"the workbook has the number format {sheet.zeros!r}, and files of this kind do not tell us which cells have it: "
            "numbers that it shows with zeros in front stand here without them"
        )
    return said


class _Reading:
    """The rows below the header: their texts in a draft, their kinds counted by column."""

    def __init__(self, draft: Draft, last: int) -> None:
        self.draft = draft
        self._last = last
        self._blank = 0
        self._repaired = 0
        self._tallies: list[grid.Kinds] = []
        self._columns: list[list[str | None]] = []

    def fill(self, rows: Iterator[Row]) -> None:
        """Take all rows."""
        waiting = 0
        for number, cells in rows:
            if self._last:
                self._blank += max(0, number - self._last - 1)
            self._last = number
            for _ in range(len(self._columns), len(cells)):
                self._columns.append([None] * waiting)
                self._tallies.append(grid.Kinds())
            for place, cell in enumerate(cells):
                self._columns[place].append(self._text(cell.text) if cell else None)
                if cell:
                    self._tallies[place].count(cell)
            for place in range(len(cells), len(self._columns)):
                self._columns[place].append(None)
            waiting += 1
            if waiting * len(self._columns) >= _BATCH_CELLS:
                self._flush()
                waiting = 0
        self._flush()

    def _text(self, text: str | None) -> str | None:
        if text is not None and not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            self._repaired += 1
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def _flush(self) -> None:
        if self._columns and self._columns[0]:
            self.draft.add(self._columns)
            for column in self._columns:
                column.clear()

    def decide(self, header: list[Cell | None]) -> tuple[tuple[Column, ...], list[Target | None], list[str]]:
        """Names, types and notes of all columns; one without name and values is left out."""
        width = self.draft.width
        self._tallies += [grid.Kinds() for _ in range(len(self._tallies), width)]
        given = [(cell.text or "") if cell else "" for cell in header] + [""] * (width - len(header))
        wanted = [name if name.strip() else f"column{place}" for place, name in enumerate(given, 1)]
        names = unique_names(wanted)
        notes = [f"{old!r} → {new!r}" for old, new in zip(wanted, names, strict=True) if old != new]
        notes = [f"columns of the same name: {cut(', '.join(notes), 200)}"] if notes else []
        targets: list[Target | None] = []
        columns: list[Column] = []
        numbered: Counter[bool] = Counter()
        for place, (name, shapes) in enumerate(zip(names, self.draft.tallies(SHAPE), strict=True)):
            kinds, unnamed = self._tallies[place], not given[place].strip()
            if unnamed and not kinds.met:
                targets.append(None)
                continue
            numbered[unnamed] += 1
            target, said = grid.decide(name, kinds, shapes)
            targets.append(target)
            columns.append(Column(name=name, type=target.type, notes=said))
        if not columns:
            raise InputError("a sheet has rows without any value")
        if header and numbered[True]:
            notes.append(f"{counted(numbered[True], 'column')} without a name, numbered by position")
        return tuple(columns), targets, notes

    def say(self) -> list[str]:
        """What is unusual about the rows."""
        said = [f"{counted(self._blank, 'blank row')} skipped"] if self._blank else []
        if self._repaired:
            said.append(f"{self._repaired:,} texts with half a surrogate pair; U+FFFD stands for it")
        return said
