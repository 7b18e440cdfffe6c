"""File → its text as Markdown, one paragraph a line, with the place of every line; and the only door to pymupdf."""

from __future__ import annotations

import asyncio
import re
import sys
import time
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from tasks.core.files.store import digest_file
from tasks.core.models.document import Converted
from tasks.core.models.source import SourceFile
from tasks.core.models.value import Location
from tasks.core.sections import ConvertSettings
from tasks.document.converting import pages, plain, shaped, written
from tasks.stage import stage

_TURNS = {(1, 0): 0, (0, -1): 90, (-1, 0): 180, (0, 1): 270}
_FILLED_OR_STROKED = 16 | 32
_WHITE, _TINY = 0xF5F5F5, 2.0
_DRAWINGS = range(3, 4000)
"""Pages with so many drawings may hold a ruled table; with more they hold pictures or maps."""
_OUTLINES = 40
"""So many drawings on a page without text are letters drawn as curves, or a picture."""
_JUNK = 0.1
_PICTURE_SHARE = 0.2
_RADICALS = re.compile("[\u2e80-\u2fdf]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\u200b]")


@stage()
async def convert_document(root: Annotated[str, Location()], file: SourceFile, settings: ConvertSettings) -> Converted:
    """The text of one document below `root`. It never fails for what is in the file: `status` says what came of it.

    Give it the settings of `choose.for_this_machine`, so that a result without OCR is not kept for a machine with it.
    """
    path = Path(root) / file.path
    suffix = PurePosixPath(file.path).suffix.lower()
    started = time.monotonic()
    try:
        if suffix == ".pdf":
            made = await pages.convert_pdf(path, file, settings)
        elif suffix in (".docx", ".html", ".htm"):
            made = await shaped.convert_shaped(path, file, settings)
        else:
            made = await asyncio.to_thread(plain.convert_plain, path, file)
        changed = bool(file.sha256) and await asyncio.to_thread(digest_file, path) != file.sha256
    except OSError as error:
        return written.without_text(file, "unreadable", f"cannot be read: {error.strerror}", passing=True)
    if changed:
        return written.without_text(file, "unreadable", "it changed while it was read: run again", passing=True)
    if time.monotonic() - started > settings.file_seconds and made.status == "converted":
        return made.model_copy(update={"notes": (*made.notes, "took longer than convert.file_seconds allows")})
    return made


def warm() -> None:
    """Import pymupdf without the layout model that it looks for: that costs a second a document, starts threads, and makes
    what is found depend on what else is installed. For the reading child only."""
    for name in ("pymupdf.layout", "pymupdf4llm"):
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    import pymupdf

    library: Any = pymupdf
    library.no_recommend_layout()


def open_pdf(path: str) -> dict[str, Any]:
    """Whether the PDF at this path can be read: status, reason, number of pages, notes, and the open document."""
    warm()
    import pymupdf

    library: Any = pymupdf
    with Path(path).open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            return {"status": "unreadable", "reason": "no PDF, whatever its suffix says"}
    document = library.open(path, filetype="pdf")
    if document.needs_pass:
        return {"status": "encrypted", "reason": "it opens with a password only: save a copy without one"}
    if not document.page_count:
        return {"status": "unreadable", "reason": "damaged: no page could be found"}
    repaired = "damaged: repaired as far as possible, text may be missing; compare it with the original"
    notes = [repaired] if document.is_repaired else []
    return {"status": "", "pages": document.page_count, "notes": notes, "document": document}


def read_page(document: Any, number: int, page_chars: int) -> dict[str, Any]:
    """Runs of text, tables and status of one page, 1-based, turned so that most of its text is upright."""
    import pymupdf

    library: Any = pymupdf
    page = document[number - 1]
    try:
        lines = _upright(page)
        pictured = _pictured(page)
        segments, hidden, junk = _segments(page, lines, keep_invisible=pictured > _PICTURE_SHARE)
        count = sum(len(re.sub(r"\s", "", segment[0])) for segment in segments)
        drawings = len(page.get_cdrawings()) if count < page_chars or _may_have_tables(page) else 0
        status, reason = _status(count, page_chars, pictured, drawings, junk)
        grids: list[Any] = []
        if not status and drawings in _DRAWINGS:
            grids, segments = _grids(page, segments)
        found = {"segments": segments, "grids": grids, "hidden": hidden, "status": status, "reason": reason}
        return {**found, "width": page.rect.width, "height": page.rect.height}
    finally:
        del page
        library.TOOLS.store_shrink(100)


def draw_page(document: Any, number: int, to: str, dots: int) -> dict[str, Any]:
    """The page as a PNG of so many dots an inch, for OCR; replies with its size in points."""
    page = document[number - 1]
    if max(page.rect.width, page.rect.height) / 72 * dots > 8000:
        dots = max(36, int(8000 * 72 / max(page.rect.width, page.rect.height)))
    page.get_pixmap(dpi=dots, alpha=False).save(to)
    return {"width": page.rect.width, "height": page.rect.height, "dots": dots}


def _upright(page: Any) -> list[dict[str, Any]]:
    """The page's lines after it was turned by the direction of most of its characters."""
    page.set_rotation(0)
    lines = _lines(page)
    weights: dict[int, int] = {}
    for line in lines:
        turn = _TURNS.get((round(line["dir"][0], 2), round(line["dir"][1], 2)))
        if turn is not None:
            weights[turn] = weights.get(turn, 0) + sum(len(span["text"]) for span in line["spans"])
    turn = max(weights, key=lambda key: weights[key], default=0)
    if not turn:
        return lines
    page.set_rotation(turn)
    page.remove_rotation()
    return _lines(page)


def _lines(page: Any) -> list[dict[str, Any]]:
    """What the page's font tables do not name becomes U+FFFD: flags that would invent characters are off."""
    import pymupdf

    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    data = page.get_text("dict", flags=flags, sort=False)
    return [line for block in data["blocks"] for line in block.get("lines", ())]


def _segments(page: Any, lines: list[dict[str, Any]], keep_invisible: bool) -> tuple[list[Any], int, float]:
    """Runs as JSON lists in the order of `Segment`, characters left out as hidden, and the share of rubbish."""
    found: dict[tuple[str, int, int], Any] = {}
    hidden = junk = total = 0
    shades: list[Any] | None = None
    for line in lines:
        kept = []
        for span in line["spans"]:
            if span["color"] >= _WHITE and _is_white(span["color"]):
                shades = _shades(page) if shades is None else shades
            if _is_hidden(span, keep_invisible, shades or [], page.rect):
                hidden += len(span["text"].strip())
            else:
                kept.append(span)
        text = _clean("".join(span["text"] for span in kept))
        total += len(text)
        junk += sum(unicodedata.category(character) in ("Co", "Cn") or character == "\ufffd" for character in text)
        if text.strip():
            segment = _segment(text, kept, line["dir"])
            found.setdefault((text, round(segment[1]), round(segment[3])), segment)
    return list(found.values()), hidden, junk / max(total, 1)


def _segment(text: str, spans: list[dict[str, Any]], direction: tuple[float, float]) -> list[Any]:
    longest = max(spans, key=lambda span: len(span["text"].strip()))
    boxes = [span["bbox"] for span in spans if span["text"].strip()]
    box = [min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)]
    box = [round(value, 1) for value in box]
    odd = abs(direction[0] - 1) > 0.02
    base = round(longest["origin"][1], 2)
    return [text, box[0], box[2], base, round(longest["size"], 2), box, odd]


def _clean(text: str) -> str:
    text = _CONTROLS.sub("", text.replace("\xa0", " ").replace("\t", " "))
    return _RADICALS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _is_white(color: int) -> bool:
    return min(color >> 16, color >> 8 & 255, color & 255) >= _WHITE & 255


def _is_hidden(span: dict[str, Any], keep_invisible: bool, shades: list[Any], rect: Any) -> bool:
    """What a reader of the page does not see: not drawn, white on white, tiny, or beside the page."""
    x0, y0, x1, y1 = span["bbox"]
    if x1 < 0 or y1 < 0 or x0 > rect.width or y0 > rect.height or 0 < span["size"] < _TINY:
        return True
    drawn = span.get("char_flags", _FILLED_OR_STROKED) & _FILLED_OR_STROKED and span.get("alpha", 255)
    if not drawn:
        return not keep_invisible
    if not _is_white(span["color"]):
        return False
    return not any(s[0] <= x0 + 1 and s[1] <= y0 + 3 and s[2] >= x1 - 1 and s[3] >= y1 - 3 for s in shades)


def _shades(page: Any) -> list[Any]:
    """Places where white text can be seen."""
    filled = [d["rect"] for d in page.get_cdrawings() if d.get("fill") and min(d["fill"]) < 0.9]
    return filled + [image["bbox"] for image in page.get_image_info()]


def _pictured(page: Any) -> float:
    """Share of the page under images; above 1 where they lie on each other."""
    area = abs(page.rect.width * page.rect.height) or 1.0
    boxes = [image["bbox"] for image in page.get_image_info()]
    return float(sum(abs((b[2] - b[0]) * (b[3] - b[1])) for b in boxes) / area)


def _status(count: int, page_chars: int, pictured: float, drawings: int, junk: float) -> tuple[str, str]:
    """Status and reason of a page; empty for plain text."""
    if junk > _JUNK:
        return "unreadable", "its fonts do not say which characters they show"
    if count < page_chars and (pictured > _PICTURE_SHARE or (pictured and not count)):
        return "image_only", "an image without a text layer"
    if not count and drawings > _OUTLINES:
        return "image_only", "drawn as outlines, without a text layer"
    return ("", "") if count else ("empty", "nothing is on it" if not drawings else "no text is on it")


def _may_have_tables(page: Any) -> bool:
    return any(True for _ in page.get_cdrawings())


def _grids(page: Any, segments: list[Any]) -> tuple[list[Any], list[Any]]:
    """Ruled tables as JSON lists in the order of `Grid`, and the runs that stand outside of them.

    The text of a cell is cut by its rectangle: the library's own extraction moves `.` and `,` out of numbers.
    """
    grids = []
    for table in page.find_tables(strategy="lines_strict", use_layout=False).tables:
        if table.row_count < 2 or table.col_count < 2:
            continue
        rows, boxes = [], []
        for row in table.rows:
            cells = [_cell(page, cell) if cell else "" for cell in row.cells]
            rows.append(cells)
            boxes.append([round(value, 1) for value in row.bbox])
        if sum(bool(cell) for cells in rows for cell in cells) < 2:
            continue
        x0, y0, x1, y1 = table.bbox
        grids.append([rows, boxes, round(x0, 1), round(x1, 1), round(y0, 1)])
        segments = [s for s in segments if not (x0 <= (s[1] + s[2]) / 2 <= x1 and y0 <= s[3] - s[4] / 3 <= y1)]
    return grids, segments


def _cell(page: Any, cell: Any) -> str:
    from tasks.document.converting.seams import Words, join

    text = ""
    for line in page.get_text("text", clip=cell).splitlines():
        text = join(text, _clean(line), Words(()))
    return text.strip()
