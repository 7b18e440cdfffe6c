"""Workbook (.xlsb, .ods) → what its cells show and a fast reader leaves out: zeros in front, percent and money, errors."""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
from collections.abc import Iterator
from typing import IO
from xml.parsers import expat

from tasks.core.errors import InputError
from tasks.intake.loading.cells import Cell, Format, read_format

Shown = Cell | Format
"""An error or a code in place of the value, or the format that a number has."""
Marked = tuple[int, dict[int, Shown]]
"""Row (from 1) and what is to be said of its cells, by column (from 0)."""
_BLOCK = 1 << 18
_STYLE_BYTES = 16 << 20
_ERRORS = {
    0: "#NULL!",
    7: "#DIV/0!",
    15: "#VALUE!",
    23: "#REF!",
    29: "#NAME?",
    36: "#NUM!",
    42: "#N/A",
    43: "#GETTING_DATA",
}
_RELATION = re.compile(rb"<Relationship\b[^>]*>")
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _VALUE = f"{_OFFICE}table:1.0 ", f"{_OFFICE}office:1.0 "
_EXTENDED = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 value-type"


def marks(archive: zipfile.ZipFile, sheet: str) -> Iterator[Marked]:
    """Of a sheet by its name, row by row; nothing where the archive is no workbook of these kinds."""
    names = set(archive.namelist())
    if "xl/workbook.bin" in names:
        yield from _binary(archive, sheet)
    elif "content.xml" in names:
        yield from _open(archive, sheet)


def _binary(archive: zipfile.ZipFile, sheet: str) -> Iterator[Marked]:
    path = _binary_path(archive, sheet)
    if not path:
        return
    formats = _binary_formats(archive)
    row, found = 0, dict[int, Shown]()
    with io.BufferedReader(archive.open(path), _BLOCK) as file:  # type: ignore[type-var]
        for kind, body in _records(file):
            if kind == 0:
                if found:
                    yield row, found
                row, found = struct.unpack_from("<I", body)[0] + 1, {}
            elif kind in (3, 11):
                place = struct.unpack_from("<I", body)[0]
                found[place] = Cell("error", None, _ERRORS.get(body[8], f"error {body[8]}"))
            elif kind in (2, 5, 9):
                place, style = struct.unpack_from("<II", body)
                form = formats[style & 0xFFFFFF] if style & 0xFFFFFF < len(formats) else None
                if form and form.kind in ("code", "percent", "money"):
                    found[place] = form
    if found:
        yield row, found


def _binary_path(archive: zipfile.ZipFile, sheet: str) -> str:
    targets = {}
    for found in _RELATION.finditer(archive.read("xl/_rels/workbook.bin.rels")):
        told = dict(re.findall(rb'(Id|Target)="([^"]*)"', found[0]))
        targets[told.get(b"Id", b"").decode()] = told.get(b"Target", b"").decode()
    with archive.open("xl/workbook.bin") as file:
        for kind, body in _records(file):
            if kind == 156:
                identity, end = _text(body, 8)
                name, _ = _text(body, end)
                if name == sheet and identity in targets:
                    target = targets[identity]
                    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return ""


def _binary_formats(archive: zipfile.ZipFile) -> list[Format]:
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    codes: dict[int, str] = dict(BUILTIN_FORMATS)
    used: list[int] = []
    inside = False
    if "xl/styles.bin" not in archive.namelist():
        return []
    with archive.open("xl/styles.bin") as file:
        for kind, body in _records(file):
            inside = kind == 617 or (inside and kind != 618)
            if kind == 44:
                codes[struct.unpack_from("<H", body)[0]] = _text(body, 2)[0]
            elif kind == 47 and inside:
                used.append(struct.unpack_from("<H", body, 2)[0])
    return [read_format(codes.get(number, "General")) for number in used]


def _records(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Kind and body of each record: both numbers before the body are written in groups of seven bits."""
    while first := file.read(1):
        kind = first[0]
        if kind & 128:
            kind = (kind & 127) | (_byte(file) << 7)
        size = shift = 0
        while shift < 28:
            part = _byte(file)
            size |= (part & 127) << shift
            shift += 7
            if part < 128:
                break
        if size > _STYLE_BYTES:
            raise InputError("a damaged workbook: a record is too large")
        body = file.read(size)
        if len(body) < size:
            raise InputError("a damaged workbook: it breaks off")
        yield kind, body


def _byte(file: IO[bytes]) -> int:
    found = file.read(1)
    if not found:
        raise InputError("a damaged workbook: it breaks off")
    return found[0]


def _text(body: bytes, at: int) -> tuple[str, int]:
    size = struct.unpack_from("<I", body, at)[0]
    end = at + 4 + 2 * size
    return body[at + 4 : end].decode("utf-16-le", "replace"), end


def _open(archive: zipfile.ZipFile, sheet: str) -> Iterator[Marked]:
    scan = _Scan(sheet)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = scan.start, scan.end
    parser.CharacterDataHandler = scan.data
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        with archive.open("content.xml") as file:
            while block := file.read(_BLOCK):
                parser.Parse(block, False)
                yield from scan.done
                scan.done.clear()
    except expat.ExpatError as error:
        raise InputError(f"a damaged workbook: {error} in content.xml") from error


def _refuse_doctype(*_: object) -> None:
    raise InputError("a damaged workbook: it has a document type, which no spreadsheet program writes")


class _Scan:
    """Handlers for the XML of all sheets; of one of them the rows with something to say are put into `done`."""

    def __init__(self, sheet: str) -> None:
        self.done: list[Marked] = []
        self._sheet = sheet
        self._inside = False
        self._row = self._place = self._wide = 0
        self._rows = 1
        self._cell: dict[str, str] = {}
        self._text: list[str] | None = None
        self._found: dict[int, Shown] = {}

    def start(self, tag: str, given: dict[str, str]) -> None:
        """An element begins."""
        if tag == f"{_TABLE}table":
            self._inside, self._row = given.get(f"{_TABLE}name") == self._sheet, 0
        elif not self._inside:
            return
        elif tag == f"{_TABLE}table-row":
            self._rows = int(given.get(f"{_TABLE}number-rows-repeated", 1))
            self._place, self._found = 0, {}
        elif tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            self._cell, self._text = given, []
            self._wide = int(given.get(f"{_TABLE}number-columns-repeated", 1))

    def end(self, tag: str) -> None:
        """An element ends."""
        if not self._inside:
            return
        if tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            said = self._said("".join(self._text or ()))
            if said:
                self._found.update(dict.fromkeys(range(self._place, self._place + self._wide), said))
            self._place, self._text = self._place + self._wide, None
        elif tag == f"{_TABLE}table-row":
            if self._found:
                self.done += [(self._row + at, self._found) for at in range(1, self._rows + 1)]
            self._row += self._rows
        elif tag == f"{_TABLE}table":
            self._inside = False

    def data(self, text: str) -> None:
        """Text that a cell shows."""
        if self._text is not None:
            self._text.append(text)

    def _said(self, text: str) -> Shown | None:
        text = text.strip()
        kind = self._cell.get(f"{_VALUE}value-type", "")
        if self._cell.get(_EXTENDED) == "error" or (
            kind == "string" and not self._cell.get(f"{_VALUE}string-value", "-")
        ):
            return Cell("error", None, text) if text.startswith(("#", "Err:")) else None
        if kind == "percentage":
            return Format("percent", False, "%")
        if kind == "currency":
            return Format("money", False, self._cell.get(f"{_VALUE}currency", text))
        digits = re.sub(r"[- /]", "", text)
        plain = re.sub(r"\.0*$", "", self._cell.get(f"{_VALUE}value", ""))
        if kind == "float" and re.fullmatch("0[0-9]+", digits) and digits.lstrip("0") == plain.lstrip("0"):
            return Cell("code", text)
        return None
