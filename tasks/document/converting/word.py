"""Word file (.docx) → Markdown lines: headings, paragraphs, lists, tables; headers and footers are left out."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

from tasks.document.converting.segment import rule_row, table_row

_MOST_BYTES, _MOST_RATIO = 512 << 20, 200
"""Unpacked size of a file, and how many times its packed one: more is no document."""
_DEEPEST = 4


def read_word(path: Path) -> tuple[list[str], list[str]]:
    """The document's lines in order, and notes. Raises ValueError for what is no document or unpacks to too much."""
    _check(path)
    import docx

    document = docx.Document(str(path))
    lines: list[str] = []
    for block in document.iter_inner_content():
        lines += _table(block) if hasattr(block, "rows") else _paragraph(block)
    notes = []
    if any(section.header.paragraphs and _has_text(section.header) for section in document.sections):
        notes.append("the pages' headers and footers were left out")
    return lines, notes


def _check(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
            raise ValueError("encrypted, or an old .doc: save it as .docx without a password")
    if not zipfile.is_zipfile(path):
        raise ValueError("no Word document, or a damaged one")
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    size = sum(info.file_size for info in infos)
    if size > _MOST_BYTES or any(i.file_size > 10 << 20 and i.file_size > _MOST_RATIO * i.compress_size for i in infos):
        raise ValueError(f"unpacks to {size >> 20} MB: no document is like that")


def _paragraph(paragraph: Any) -> list[str]:
    style = paragraph.style
    name = (style.name if style is not None else "") or ""
    level = _level(name, paragraph)
    listed = not level and _is_listed(paragraph, name)
    texts = [re.sub(r"\s+", " ", part).strip() for part in paragraph.text.split("\n")]
    prefix = "#" * level + " " if level else "- " if listed else ""
    return [prefix + text for text in texts if text]


def _level(name: str, paragraph: Any) -> int:
    """Of a heading, by the style or its outline level; 0 for other text."""
    if name.lower() in ("title", "标题"):
        return 1
    if found := re.fullmatch(r"(?i)(?:heading|标题)\s*(\d)", name):
        return min(int(found[1]), 6)
    holders = [paragraph._p.pPr, paragraph.style.element.pPr if paragraph.style is not None else None]
    for holder in holders:
        outline = None if holder is None else holder.find(_tag("outlineLvl"))
        if outline is not None and outline.get(_tag("val"), "9").isdigit() and int(outline.get(_tag("val"))) < 6:
            return int(outline.get(_tag("val"))) + 1
    return 0


def _is_listed(paragraph: Any, name: str) -> bool:
    properties = paragraph._p.pPr
    return name.lower().startswith("list ") or (properties is not None and properties.numPr is not None)


def _table(table: Any, depth: int = 0) -> list[str]:
    """A table's rows; a merged cell stands once, a table in a cell comes after its table."""
    rows: list[list[str]] = []
    inner: list[str] = []
    for row in table.rows:
        cells, before = [], None
        for cell in row.cells:
            if cell._tc is before:
                cells.append("")
                continue
            cells.append(" ".join(paragraph.text for paragraph in cell.paragraphs))
            for nested in cell.tables if depth < _DEEPEST else ():
                inner += _table(nested, depth + 1)
            before = cell._tc
        rows.append(cells)
    width = max(map(len, rows), default=0)
    if not any(cell.strip() for cells in rows for cell in cells):
        return inner
    lines = [table_row([*cells, *[""] * (width - len(cells))]) for cells in rows]
    return [lines[0], rule_row(width), *lines[1:], *inner]


def _has_text(header: Any) -> bool:
    return any(paragraph.text.strip() for paragraph in header.paragraphs)


def _tag(name: str) -> str:
    return f"{{http://schemas.openxmlformats.org/wordprocessingml/2006/main}}{name}"
