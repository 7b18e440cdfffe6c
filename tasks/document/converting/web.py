"""HTML file → Markdown lines: headings, paragraphs, list items, tables; scripts, styles and hidden parts are left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tasks.core.files.text import read_text
from tasks.core.wording import counted
from tasks.document.converting.segment import rule_row, table_row

_DROPPED = {
    *("script", "style", "head", "noscript", "template", "svg", "iframe", "object", "select", "button"),
    *("input", "textarea", "nav", "canvas", "audio", "video"),
}
_BLOCKS = {
    *("p", "div", "section", "article", "main", "header", "footer", "aside", "ul", "ol", "li", "dl", "dt", "dd"),
    *("blockquote", "figure", "figcaption", "address", "body", "html", "pre", "form", "fieldset", "details", "summary"),
    *("hr", "center", "caption"),
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = re.compile(r"(?i)display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])")
_CHARSET = re.compile(rb"(?i)<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)")
_WIDEST, _SPAN = 500, 100


class _Writer:
    """Collects lines while the tree is walked."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.hidden = 0
        self._text: list[str] = []
        self._prefix = ""

    def add(self, text: str | None) -> None:
        """Text of the line under way."""
        if text:
            self._text.append(text)

    def end(self, prefix: str = "") -> None:
        """End the line; the next one begins with `prefix`."""
        text = _flat("".join(self._text))
        if text:
            self.lines.append(self._prefix + text)
            self._prefix = ""
        self._text = []
        self._prefix = prefix or ("" if text else self._prefix)


def read_web(path: Path) -> tuple[list[str], list[str]]:
    """The page's lines in order, and notes. Raises ValueError when there is no HTML in it."""
    from lxml import etree, html

    text, note = _decoded(path)
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    if not text.strip():
        return [], []
    try:
        parser = html.HTMLParser(no_network=True, huge_tree=True)  # nests 2,048 deep, not 256
        root = html.document_fromstring(text, parser=parser)
    except etree.ParserError as error:
        raise ValueError(f"no HTML: {error}") from error
    writer = _Writer()
    _walk(root, writer)
    writer.end()
    notes = [note] if note else []
    notes += [
        f"it nests too deep for its reader: nothing was read from line {entry.line} of the file on"
        for entry in parser.error_log
        if entry.type_name == "ERR_RESOURCE_LIMIT"
    ][:1]
    if writer.hidden:
        notes.append(
            f"{counted(writer.hidden, 'part that the page hides was', 'parts that the page hides were')} left out"
        )
    return writer.lines, notes


def _decoded(path: Path) -> tuple[str, str]:
    """By its own declaration when the bytes bear it out, else by the bytes."""
    with path.open("rb") as file:
        declared = _CHARSET.search(file.read(4096))
    if declared:
        try:
            return path.read_bytes().decode(declared[1].decode().lower().replace("gb2312", "gb18030")), ""
        except (LookupError, UnicodeDecodeError):
            pass
    text, encoding, lost = read_text(path)
    return text, f"{lost} characters could not be decoded" if lost else encoding.note


def _walk(root: Any, writer: _Writer) -> None:
    """Depth first, without recursion: pages nest as deep as they like."""
    waiting: list[tuple[str, Any]] = [("enter", root)]
    while waiting:
        step, node = waiting.pop()
        if step == "leave":
            if _is_block(node):
                writer.end()
            continue
        if step == "tail":
            writer.add(node.tail)
            continue
        if not isinstance(node.tag, str) or node.tag in _DROPPED:
            continue
        if _is_hidden(node):
            writer.hidden += 1
            continue
        _enter(node, writer)
        if node.tag == "table" and not _is_frame(node):
            _write_table(node, writer)
            continue
        waiting.append(("leave", node))
        for child in reversed(node):
            waiting += [("tail", child), ("enter", child)]


def _enter(node: Any, writer: _Writer) -> None:
    if node.tag in _HEADINGS:
        writer.end("#" * _HEADINGS[node.tag] + " ")
    elif node.tag == "li":
        writer.end("- ")
    elif _is_block(node) or node.tag == "br":
        writer.end()
    if node.tag not in ("table", "tr"):
        writer.add(node.text)


def _is_block(node: Any) -> bool:
    return node.tag in _BLOCKS or node.tag in _HEADINGS or node.tag in ("table", "tr", "td", "th", "tbody", "thead")


def _is_hidden(node: Any) -> bool:
    return "hidden" in node.attrib or bool(_HIDDEN.search(node.get("style", "")))


def _is_frame(table: Any) -> bool:
    """A table that only lays out the page: it holds tables, headings or many paragraphs."""
    if table.find(".//table") is not None or any(table.find(f".//{tag}") is not None for tag in _HEADINGS):
        return True
    rows = list(table.iter("tr"))
    return not rows or all(len(row) <= 1 for row in rows)


def _write_table(table: Any, writer: _Writer) -> None:
    """Rows with the cells that span several repeated as empty ones, so that columns stay under their heads."""
    writer.end()
    rows: list[list[str]] = []
    below: dict[int, int] = {}
    for row in table.iter("tr"):
        cells: list[str] = []
        for cell in row:
            if cell.tag not in ("td", "th"):
                continue
            _skip(cells, below)
            wide = min(_number(cell.get("colspan")), _SPAN)
            tall = min(_number(cell.get("rowspan")), _SPAN)
            for extra in range(wide):
                if tall > 1:
                    below[len(cells)] = tall - 1
                cells.append(_text(cell) if not extra else "")
        _skip(cells, below)
        if any(cells) and len(cells) <= _WIDEST:
            rows.append(cells)
    width = max(map(len, rows), default=0)
    lines = [table_row([*cells, *[""] * (width - len(cells))]) for cells in rows]
    caption = table.find("caption")
    if caption is not None and _text(caption):
        writer.lines.append(_text(caption))
    if lines:
        writer.lines += [lines[0], rule_row(width), *lines[1:]]


def _skip(cells: list[str], below: dict[int, int]) -> None:
    """Empty cells where one from a row above reaches down."""
    while below.get(len(cells), 0) > 0:
        below[len(cells)] -= 1
        cells.append("")


def _text(cell: Any) -> str:
    parts = []
    for node in cell.iter():
        if isinstance(node.tag, str) and node.tag in _DROPPED:
            continue
        if node.tag in ("br", "p", "div", "li"):
            parts.append(" ")
        parts.append((node.text or "") if isinstance(node.tag, str) else "")
        if node is not cell:
            parts.append(node.tail or "")
    return _flat("".join(parts))


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and int(text) > 0 else 1


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u200b", "")).strip()
