"""Excel file (.xlsx, .xlsm) → its sheets, row by row, each cell with its number format; bounded memory, all digits.

The XML is walked here: readers made for it give every number as a float, which loses digits, or drop errors, formats
and formulas without a value.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any
from xml.parsers import expat

from tasks.core.errors import InputError
from tasks.intake.loading.archive import names
from tasks.intake.loading.cells import Cell, Format, number, read_format

_BLOCK = 1 << 18
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass
class Sheet:
    """One sheet; the counts are complete when its rows have been read."""

    name: str
    hidden: bool = False
    path: str = ""
    """Inside the archive; empty for a chart."""
    merged: list[str] = field(default_factory=list)
    hidden_rows: int = 0
    zeros: str = ""
    """A format that shows zeros in front, where the reader cannot tell which cells have it."""


class Book:
    """An open workbook. Raises InputError when it is damaged or encrypted."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = names(archive)
        self.since_1904 = False
        self.sheets: list[Sheet] = []
        self._formats = [Format("plain")]
        self._texts: list[str] | None = None
        self._part: dict[str, str] = {}
        self._read_outline()

    def rows(self, sheet: Sheet) -> Iterator[tuple[int, list[Cell | None]]]:
        """Number (from 1) and cells of each row that has any; None stands for an empty cell."""
        if self._texts is None:
            self._texts = self._shared(self._part["sharedStrings"]) if "sharedStrings" in self._part else []
        scan = _Scan(sheet, self._texts, self._formats, self.since_1904)
        for _ in self._parse(sheet.path, scan.start, scan.end, scan.data):
            yield from scan.done
            scan.done.clear()

    def close(self) -> None:
        self._archive.close()

    def _parse(self, path: str, start: Any, end: Any, data: Any) -> Iterator[None]:
        """Feed one file of the archive to the handlers, with a stop after each block."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
        parser.StartDoctypeDeclHandler = _refuse_doctype
        real = self._names.get(path.lower())
        if real is None:
            raise InputError(f"a damaged Excel file: {path} is missing in it")
        try:
            with self._archive.open(real) as file:
                yield from _feed(parser, file)
        except RuntimeError as error:  # zipfile says so of encrypted entries and of packing that it does not know
            raise InputError(f"encrypted, or packed in an unusual way: {error}") from error
        except (zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError) as error:
            raise InputError(f"a damaged Excel file: {error} in {path}") from error
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise InputError(f"a damaged Excel file: {error} in {path}") from error

    def _elements(self, path: str) -> list[tuple[str, dict[str, str]]]:
        """Names (without namespace) and attributes of all elements of a small file."""
        found: list[tuple[str, dict[str, str]]] = []
        for _ in self._parse(
            path, lambda tag, attributes: found.append((_bare(tag), _attributes(attributes))), None, None
        ):
            pass
        return found

    def _read_outline(self) -> None:
        """Sheets in order, the date system, and the formats by style number."""
        book = self._named("", ".rels").get("officeDocument", "xl/workbook.xml")
        folder, name = posixpath.split(book)
        targets = self._targets(folder, f"{name}.rels")
        self._part = {kind: path for kind, path in targets.values() if path.lower() in self._names}
        for tag, a in self._elements(book):
            if tag == "workbookPr":
                self.since_1904 = a.get("date1904", "") in ("1", "true", "on")
            elif tag == "sheet":
                kind, path = targets.get(a.get("id", ""), ("", ""))
                hidden = a.get("state", "visible") != "visible"
                self.sheets.append(Sheet(a.get("name", ""), hidden, path if kind == "worksheet" else ""))
        if "styles" in self._part:
            self._read_styles(self._part["styles"])

    def _named(self, folder: str, name: str) -> dict[str, str]:
        return dict(self._targets(folder, name).values())

    def _targets(self, folder: str, name: str) -> dict[str, tuple[str, str]]:
        """Kind and path of what a file of the archive refers to, by id."""
        listed = posixpath.join(folder, "_rels", name)
        found: dict[str, tuple[str, str]] = {}
        for _, a in self._elements(listed) if listed.lower() in self._names else ():
            target = a.get("Target", "").replace("\\", "/")
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            if "Id" in a:
                found[a["Id"]] = (a.get("Type", "").rsplit("/", 1)[-1], path)
        return found

    def _read_styles(self, path: str) -> None:
        from openpyxl.styles.numbers import BUILTIN_FORMATS

        codes: dict[int, str] = dict(BUILTIN_FORMATS)
        used: list[int] = []
        inside = ""
        for tag, a in self._elements(path):
            if tag in ("cellXfs", "cellStyleXfs", "dxfs", "cellStyles"):
                inside = tag
            elif tag == "numFmt" and inside != "dxfs":
                codes[int(a.get("numFmtId", 0))] = a.get("formatCode", "")
            elif tag == "xf" and inside == "cellXfs":
                used.append(int(a.get("numFmtId", 0)))
        self._formats = [read_format(codes.get(each) or _eastern(each)) for each in used] or self._formats

    def _shared(self, path: str) -> list[str]:
        texts: list[str] = []
        now: list[str] = []
        inside = {"t": False, "rPh": False}

        def start(tag: str, _: dict[str, str]) -> None:
            if (bare := _bare(tag)) in inside:
                inside[bare] = True

        def end(tag: str) -> None:
            bare = _bare(tag)
            if bare in inside:
                inside[bare] = False
            elif bare == "si":
                texts.append(_unescape("".join(now)))
                now.clear()

        def data(text: str) -> None:
            if inside["t"] and not inside["rPh"]:  # the latter tells how to pronounce the text
                now.append(text)

        for _ in self._parse(path, start, end, data):
            pass
        return texts


class _Scan:
    """Handlers for the XML of one sheet; whole rows are put into `done`."""

    def __init__(self, sheet: Sheet, texts: list[str], formats: list[Format], since_1904: bool) -> None:
        self.done: list[tuple[int, list[Cell | None]]] = []
        self._sheet, self._texts, self._formats, self._since_1904 = sheet, texts, formats, since_1904
        self._row: list[Cell | None] = []
        self._number = 0
        self._cell: dict[str, str] = {}
        self._place = 0
        self._text: list[str] = []
        self._takes = self._formula = self._spoken = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        bare = _bare(tag)
        if bare == "c":
            self._cell, self._formula = attributes, False
            self._text.clear()
            told = attributes.get("r")
            self._place = _column(told) if told else len(self._row)
        elif bare in ("v", "t"):
            self._takes = not self._spoken
        elif bare == "f":
            self._formula = True
        elif bare == "row":
            self._number = int(attributes.get("r") or self._number + 1)
            self._sheet.hidden_rows += attributes.get("hidden") in ("1", "true")
            self._row = []
        elif bare == "rPh":
            self._spoken = True
        elif bare == "mergeCell":
            self._sheet.merged.append(attributes.get("ref", ""))

    def end(self, tag: str) -> None:
        """An element ends."""
        bare = _bare(tag)
        if bare in ("v", "t"):
            self._takes = False
        elif bare == "rPh":
            self._spoken = False
        elif bare == "c":
            self._put(self._made())
        elif bare == "row" and any(self._row):
            self.done.append((self._number, self._row))

    def data(self, text: str) -> None:
        """Text of the value."""
        if self._takes:
            self._text.append(text)

    def _put(self, cell: Cell | None) -> None:
        row, place = self._row, self._place
        if len(row) <= place:
            row.extend([None] * (place + 1 - len(row)))
        row[place] = cell

    def _made(self) -> Cell | None:
        raw, kind = "".join(self._text), self._cell.get("t", "n")
        if kind == "s":
            at = int(raw or -1)
            if not 0 <= at < len(self._texts):
                raise InputError(f"a damaged Excel file: text {raw!r} in row {self._number} is missing in it")
            return Cell("text", self._texts[at])
        if kind in ("str", "inlineStr"):
            if not raw and kind == "str":
                return Cell("text", "")  # a formula whose result is an empty text
            return Cell("text", _unescape(raw)) if raw else None
        if not raw:
            return Cell("formula", None) if self._formula else None
        if kind == "e":
            return Cell("error", None, raw)
        if kind == "b":
            return Cell("boolean", "true" if raw.strip() in ("1", "true") else "false")
        if kind == "d":
            return _iso(raw)
        style = int(self._cell.get("s", 0))
        form = self._formats[style] if style < len(self._formats) else self._formats[0]
        return number(raw, form, self._since_1904)


def _feed(parser: Any, file: IO[bytes]) -> Iterator[None]:
    while block := file.read(_BLOCK):
        parser.Parse(block, False)
        yield
    parser.Parse(b"", True)
    yield


def _refuse_doctype(*_: object) -> None:
    raise InputError("a damaged Excel file: it has a document type, which no spreadsheet program writes")


def _bare(tag: str) -> str:
    return tag.rpartition(" ")[2]


def _attributes(found: dict[str, str]) -> dict[str, str]:
    return {_bare(name): value for name, value in found.items()}


def _column(reference: str) -> int:
    """`C7` → 2."""
    place = 0
    for sign in reference:
        if not sign.isalpha():
            break
        place = place * 26 + ord(sign.upper()) - 64
    if not 0 < place <= 16_384:
        raise InputError(f"a damaged Excel file: no cell can be at {reference!r}")
    return place - 1


def _iso(raw: str) -> Cell:
    text = raw.strip().removesuffix("Z").replace("T", " ")
    if re.fullmatch(r"\d{4}-\d\d-\d\d( 00:00:00(\.0+)?)?", text):
        return Cell("date", text[:10])
    return Cell("moment" if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", text) else "text", text)


def _unescape(text: str) -> str:
    """`_x000D_` stands for a control character."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _eastern(number_format: int) -> str:
    """Built-in formats of Chinese, Japanese and Korean editions, all of them dates or times."""
    if number_format in (27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58):
        return "yyyy-mm-dd"
    return "h:mm:ss" if number_format in (32, 33, 34, 35, 55, 56) else "General"
