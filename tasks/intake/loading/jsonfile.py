"""JSON file → typed tables: array of objects, `{table, records}` and other wrappers, columns, keyed objects, NDJSON.

A value keeps its type: text is text, even when it looks like a number. A column with several types becomes text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tasks.core.errors import InputError
from tasks.core.files.text import detect, transcode, whole
from tasks.core.sql.build import Builder
from tasks.intake.loading import wrappers
from tasks.intake.loading.aside import Aside
from tasks.intake.loading.flat import Rows
from tasks.intake.loading.part import Part
from tasks.intake.loading.stream import Stream

_GENERIC = {
    "data", "records", "rows", "items", "results", "result", "values", "list", "entries", "features", "content",
    "objects", "documents", "table", "tables", "response", "payload", "数据", "记录", "列表",
}  # fmt: skip
"""Keys that name no table."""
_NAMES = ("table", "table_name", "tablename", "name", "表名")


class _Job:
    """The tables of one file so far."""

    def __init__(self, path: Path, stored: str, builder: Builder) -> None:
        self.path, self.stored, self.builder = path, stored, builder
        self.parts: list[Part] = []
        self.notes: list[str] = []

    def table(self, name: str, inner: str, rows: Iterable[dict[str, Any]], aside: Aside | None = None) -> None:
        """Write one table from its records."""
        stored = f"{self.stored}_{len(self.parts)}"
        written = Rows(self.builder)
        for row in rows:
            written.add(row)
        columns, count, notes = written.settle(stored)
        kept = aside.close() if aside else 0
        name, inner = whole(name), whole(inner)
        part = Part(stored=stored, name=name, inner=inner, columns=columns, rows=count, set_aside=kept, notes=notes)
        self.parts.append(part)


def load(path: Path, stored: str, builder: Builder, scratch: Path) -> tuple[Part, ...]:
    """Load a JSON file as tables `<stored>_0` … Raises InputError with the line when it is no JSON."""
    if path.stat().st_size == 0:
        raise InputError("the file is empty")
    encoding = detect(path)
    copy, job = scratch / f"copy{path.suffix}", _Job(path, stored, builder)
    if encoding.note:
        job.notes.append(encoding.note)
    if not encoding.is_utf8 and (lost := transcode(path, encoding, copy)):
        job.notes.append(f"{lost:,} characters could not be decoded; U+FFFD stands for them")
    try:
        source = path if encoding.is_utf8 else copy
        with source.open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
            stream = Stream(file)
            _document(stream, job, _is_lines(source))
    finally:
        copy.unlink(missing_ok=True)
    if stream.repeated:
        job.notes.append(
            f"keys given twice in one object, the last value counts: {whole(', '.join(sorted(stream.repeated)[:5]))}"
        )
    if stream.constants:
        job.notes.append(f"{stream.constants:,} NaN or Infinity read as NULL")
    return tuple(part.model_copy(update={"notes": (*job.notes, *part.notes)}) for part in job.parts)


def _document(stream: Stream, job: _Job, lines: bool) -> None:
    first = stream.peek()
    if not first:
        raise InputError("the file holds nothing but blanks")
    if first == "[":
        _array(stream, job)
    elif lines:
        _lines(stream, job)
        return
    elif first == "{" and not stream.is_sequence():
        _object(stream, job)
    else:
        job.table(job.path.stem, "", _sequence(stream))
    if stream.peek():
        raise InputError(f"not valid JSON: more text after the end of the document, in line {stream.line()}")


def _is_lines(path: Path) -> bool:
    """Whether one of the first two lines holds whole objects; a single line counts by the suffix only."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = (line for line in file if line.strip("\ufeff \t\r\n"))
        first, second = next(lines, ""), next(lines, "")
    told = path.suffix.lower() in (".jsonl", ".ndjson")
    return (told or bool(second)) and (_holds_whole(first) or _holds_whole(second))


def _holds_whole(line: str) -> bool:
    text = line.strip()
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and text[end:].lstrip()[:1] in ("", "{")


def _lines(stream: Stream, job: _Job) -> None:
    aside = Aside(job.builder, f"{job.stored}_0")

    def rows() -> Iterator[dict[str, Any]]:
        for number, text, found in stream.lines():
            if isinstance(found, InputError):
                aside.add(number, text, found.message)
                continue
            for value in found:
                yield value if isinstance(value, dict) else {"value": value}

    job.table(job.path.stem, "", rows(), aside)


def _sequence(stream: Stream) -> Iterator[dict[str, Any]]:
    """Documents one after another; a bad one ends the file, since nobody knows where the next begins."""
    while stream.peek():
        value = stream.value()
        yield value if isinstance(value, dict) else {"value": value}


def _array(stream: Stream, job: _Job) -> None:
    job.table(job.path.stem, "", _rows_of_array(stream))


def _rows_of_array(stream: Stream) -> Iterator[dict[str, Any]]:
    """Objects as they are; arrays under the names in the first one or numbered; anything else as `value`."""
    header: list[str] | None = None
    number = 0
    for _ in stream.items():
        value = stream.value()
        number += 1
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            if number == 1 and value and all(type(name) is str for name in value) and len(set(value)) == len(value):
                header = value
                continue
            yield wrappers.named(value, header)
        else:
            yield {"value": value}
    if header and number == 1:
        yield wrappers.named(header, None)


def _object(stream: Stream, job: _Job) -> None:
    """A wrapper around record sets, columns, keyed objects, or one record."""
    rest: dict[str, Any] = {}
    sets: list[str] = []
    for key in stream.members():
        if stream.peek() == "[" and _holds_objects(stream):
            sets.append(key)
            job.table(key, key, _rows_of_array(stream))
        else:
            rest[key] = stream.value()
    if sets:
        _name_sets(job, sets, rest)
    else:
        _without_sets(rest, job)


def _holds_objects(stream: Stream) -> bool:
    return stream.following("[") == "{"


def _name_sets(job: _Job, sets: list[str], rest: dict[str, Any]) -> None:
    told = next((rest.pop(key) for key in _NAMES if type(rest.get(key)) is str and rest[key].strip()), "")
    if len(sets) == 1 and (told or sets[0].lower() in _GENERIC):
        name = whole(str(told or job.path.stem))
        job.parts[0] = job.parts[0].model_copy(update={"name": name, "inner": whole(sets[0]) if not told else name})
    if rest:
        job.table(f"{job.path.stem}__meta", "", [rest])


def _without_sets(rest: dict[str, Any], job: _Job) -> None:
    stem = job.path.stem
    for shape in (wrappers.split, wrappers.by_columns, wrappers.by_key):
        if (rows := shape(rest)) is not None:
            job.table(stem, "", rows)
            return
    if sets := list(wrappers.inner_sets(rest)):
        for key, rows in sets:
            job.table(stem if key.lower() in _GENERIC and len(sets) == 1 else key, key, rows)
        if kept := wrappers.without_empty(rest):
            job.table(f"{stem}__meta", "", [kept])
        return
    empty = [key for key, value in rest.items() if value == []]
    told = next((rest[key] for key in _NAMES if type(rest.get(key)) is str and rest[key].strip()), "")
    if told and len(empty) == 1 and len(rest) == 2:
        job.table(str(told), str(told), [])
    else:
        job.table(stem, "", [rest])
