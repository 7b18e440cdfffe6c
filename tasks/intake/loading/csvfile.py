"""Delimited text file → one typed table, and the lines that could not be read in `<table>__set_aside`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TextIO

from tasks.core.errors import InputError
from tasks.core.files.text import detect, transcode
from tasks.core.models.catalogue import Column
from tasks.core.sql.build import Builder, Draft, Target
from tasks.core.sql.names import unique_names
from tasks.core.wording import counted
from tasks.intake.loading.aside import Aside
from tasks.intake.loading.columns import SHAPE, cut, decide
from tasks.intake.loading.dialect import Layout, sniff
from tasks.intake.loading.part import Part
from tasks.intake.loading.records import Irregular, Record, records

_BATCH_CELLS = 200_000
_FAST_BYTES = 4 << 20
"""Smaller files are read by our own reader in any case: it takes less than a second."""


@dataclass
class _Reading:
    """Counts over all records."""

    width: int
    short: int = 0
    long: int = 0
    above: str = ""
    last_unnamed: bool = False
    notes: list[str] = field(default_factory=list)


def load(path: Path, stored: str, builder: Builder, sample_bytes: int, scratch: Path) -> tuple[Part, ...]:
    """Load a CSV file as the table `stored`. Raises InputError when it holds no record."""
    if path.stat().st_size == 0:
        raise InputError("the file is empty")
    encoding = detect(path)
    notes = [encoding.note] if encoding.note else []
    copy = scratch / "copy.csv"
    if not encoding.is_utf8:
        lost = transcode(path, encoding, copy)
        if lost:
            notes.append(f"{lost:,} characters could not be decoded; U+FFFD stands for them")
    try:
        return (_load_text(path if encoding.is_utf8 else copy, path, stored, builder, _Job(sample_bytes, notes)),)
    finally:
        copy.unlink(missing_ok=True)


@dataclass
class _Job:
    sample_bytes: int
    notes: list[str]


def _load_text(text: Path, path: Path, stored: str, builder: Builder, job: _Job) -> Part:
    with _open(text) as file:
        sample = _sample(file, job.sample_bytes)
    if not sample.strip("\ufeff \t\r\n"):
        raise InputError("the file holds nothing but blank lines")
    layout = sniff(sample, path.suffix.lower())
    aside = Aside(builder, stored)
    with _open(text) as file:
        titles = _skip(file, layout, aside)
        above = aside.count
        met = Irregular(lambda line, raw, reason: aside.add(line + layout.above, raw, reason))
        found = records(file, layout.dialect, met)
        begin = next(found, None)
        if begin is None:
            raise InputError(f"damaged: none of its lines can be read as a row ({aside.count:,} end in an open quote)")
        number, header = begin if layout.header else (0, [])
        first = [] if layout.header else [begin]
        reading = _Reading(width=len(begin[1]))
        reading.above = titles
        met.one_column = reading.width == 1
        draft = builder.draft(reading.width)
        if not _read_fast(text, draft, layout, number):
            draft = builder.draft(reading.width)
            _fill(draft, _chain(first, found), reading, aside)
    names = _names(header, draft.width, reading)
    targets, columns = _decide(draft, names, reading)
    draft.settle(stored, targets)
    notes = (*job.notes, *layout.notes, *_say(layout, met, reading), *reading.notes)
    rows, kept = builder.count(stored), aside.close()
    return Part(stored=stored, name=path.stem, columns=columns, rows=rows, set_aside=kept, titles=above, notes=notes)


def _open(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _sample(file: TextIO, size: int) -> str:
    """The first lines, whole, of about so many characters."""
    text = file.read(size)
    return text + file.readline() if len(text) == size else text


def _skip(file: TextIO, layout: Layout, aside: Aside) -> str:
    """Step over the lines above the header; what they say, for a note."""
    titles = []
    for number, line in enumerate(islice(file, layout.above), 1):
        text = line.rstrip("\r\n")
        if text.strip() and not text.lower().startswith("sep="):
            aside.add(number, text, "above the header")
            titles.append(" ".join(text.split()))
    return repr(cut(" / ".join(titles), 200)) if titles else ""


def _read_fast(text: Path, draft: Draft, layout: Layout, header: int) -> bool:
    """Let DuckDB read a large regular file. True only if it met nothing odd and every line became one row."""
    dialect, above = layout.dialect, layout.above + header
    if text.stat().st_size < _FAST_BYTES or draft.width < 2 or dialect.escape or dialect.spaced or header > 1:
        return False
    lines = _lines(text)
    return lines is not None and draft.read_csv(text, dialect.delimiter, dialect.quote, above) == lines - above


def _lines(path: Path) -> int | None:
    """Lines of a file; None when they do not all end alike."""
    feeds = returns = pairs = 0
    last = b""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            feeds += block.count(b"\n")
            returns += block.count(b"\r")
            pairs += block.count(b"\r\n") + (last == b"\r" and block.startswith(b"\n"))
            last = block[-1:]
    if returns != pairs or returns not in (0, feeds):
        return None
    return feeds + (last != b"\n")


def _chain(first: list[tuple[int, Record]], rest: Iterator[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
    yield from first
    yield from rest


def _fill(draft: Draft, found: Iterator[tuple[int, Record]], reading: _Reading, aside: Aside) -> None:
    size = max(1, _BATCH_CELLS // max(1, reading.width))
    batch: list[Record] = []
    for number, record in found:
        if len(record) != reading.width:
            if len(record) > 2 * reading.width + 20:
                aside.add(number, repr(record)[:100_000], f"{len(record)} fields in place of {reading.width}")
                continue
            reading.short += len(record) < reading.width
            reading.long += len(record) > reading.width
        batch.append(record)
        if len(batch) >= size:
            _flush(draft, batch, reading)
    _flush(draft, batch, reading)


def _flush(draft: Draft, batch: list[Record], reading: _Reading) -> None:
    if not batch:
        return
    width = max(max(map(len, batch)), draft.width)
    for record in batch:
        if len(record) < width:
            record.extend([None] * (width - len(record)))
    draft.add(list(zip(*batch, strict=True)))
    batch.clear()


def _names(header: Record, width: int, reading: _Reading) -> tuple[str, ...]:
    given = [part or "" for part in header] + [""] * (width - len(header))
    wanted = [name if name.strip() else f"column{position}" for position, name in enumerate(given, 1)]
    names = unique_names(wanted)
    renamed = [f"{old!r} → {new!r}" for old, new in zip(wanted, names, strict=True) if old != new]
    if renamed:
        reading.notes.append(f"columns of the same name: {cut(', '.join(renamed), 200)}")
    unnamed = [not (part and part.strip()) for part in header]
    reading.last_unnamed = len(unnamed) > 1 and unnamed[-1]
    if any(unnamed):
        reading.notes.append(
            f"{counted(sum(unnamed), 'column')} without a name, numbered by position; an empty last one is left out"
        )
    return names


def _decide(draft: Draft, names: tuple[str, ...], reading: _Reading) -> tuple[list[Target | None], tuple[Column, ...]]:
    targets: list[Target | None] = []
    columns = []
    for position, (name, shapes) in enumerate(zip(names, draft.tallies(SHAPE), strict=True)):
        if not shapes and (position >= reading.width or (position == reading.width - 1 and reading.last_unnamed)):
            targets.append(None)
            continue
        target, notes = decide(name, shapes, infer=True)
        targets.append(target)
        columns.append(Column(name=name, type=target.type, notes=notes))
    return targets, tuple(columns)


def _say(layout: Layout, met: Irregular, reading: _Reading) -> list[str]:
    said = []
    if reading.above:
        said.append(f"above the header: {reading.above}")
    if reading.short:
        said.append(
            f"{counted(reading.short, 'row has', 'rows have')} fewer fields than the header; NULL in the missing ones"
        )
    if reading.long:
        said.append(
            f"{counted(reading.long, 'row has', 'rows have')} more fields than the header ({reading.width}); "
            "what is beyond it stands in added columns"
        )
    if met.blank_lines:
        said.append(f"{counted(met.blank_lines, 'blank line')} skipped")
    if met.loose_quotes:
        said.append(f"{counted(met.loose_quotes, 'field')} with text after a closing quote; read as written")
    if met.long_fields:
        said.append(
            f"{counted(met.long_fields, 'quoted field runs', 'quoted fields run')} over more than 20 lines: is a quote left open?"
        )
    return said
