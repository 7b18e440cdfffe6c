"""Rows → a binary workbook (.xlsb), which no free program writes: the records that readers need, and no more."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>'
)
Value = float | str | bool | bytes | None
"""Bytes are the number of an error: 7 is #DIV/0!, 42 is #N/A."""


def write(path: Path, rows: list[list[Value]], formats: dict[tuple[int, int], str]) -> None:
    """One sheet `S`; `formats` by row and column, from 0."""
    codes = list(dict.fromkeys(formats.values()))
    styles = _record(615, struct.pack("<I", len(codes)))
    styles += b"".join(_record(44, struct.pack("<H", 164 + at) + _text(code)) for at, code in enumerate(codes))
    styles += _record(616) + _record(617, struct.pack("<I", len(codes) + 1))
    for number in (0, *(164 + at for at in range(len(codes)))):
        styles += _record(47, struct.pack("<HH", 0, number) + bytes(12))
    styles = _record(278) + styles + _record(618) + _record(279)
    sheet = (
        _record(129) + _record(148, struct.pack("<IIII", 0, len(rows) - 1, 0, max(map(len, rows)) - 1)) + _record(145)
    )
    for at, row in enumerate(rows):
        sheet += _record(0, struct.pack("<I", at) + bytes(13))
        for place, value in enumerate(row):
            style = codes.index(formats[at, place]) + 1 if (at, place) in formats else 0
            sheet += _cell(struct.pack("<II", place, style), value)
    sheet += _record(146) + _record(130)
    book = (
        _record(131)
        + _record(143)
        + _record(156, struct.pack("<II", 0, 1) + _text("rId1") + _text("S"))
        + _record(144)
        + _record(132)
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", _relations("officeDocument", "xl/workbook.bin"))
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/_rels/workbook.bin.rels", _relations("worksheet", "worksheets/sheet1.bin"))
        archive.writestr("xl/styles.bin", styles)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)


def _cell(place: bytes, value: Value) -> bytes:
    if value is None:
        return _record(1, place)
    if isinstance(value, bool):
        return _record(4, place + bytes([value]))
    if isinstance(value, bytes):
        return _record(3, place + value)
    if isinstance(value, str):
        return _record(6, place + _text(value))
    return _record(5, place + struct.pack("<d", value))


def _record(kind: int, body: bytes = b"") -> bytes:
    return _number(kind) + _number(len(body)) + body


def _number(value: int) -> bytes:
    made = b""
    while value > 127:
        made, value = made + bytes([value & 127 | 128]), value >> 7
    return made + bytes([value])


def _text(value: str) -> bytes:
    raw = value.encode("utf-16-le")
    return struct.pack("<I", len(raw) // 2) + raw


def _relations(kind: str, target: str) -> str:
    one = f'<Relationship Id="rId1" Type="{RELATION}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{one}</Relationships>'
