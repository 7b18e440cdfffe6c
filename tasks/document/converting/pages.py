"""PDF → Markdown lines: page by page in a killable child, then furniture, layout and paragraphs over all of them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tasks.core import ocr
from tasks.core.files import store as stores
from tasks.core.models.document import Converted, ConvertStatus, PageNote
from tasks.core.models.source import SourceFile
from tasks.core.process import ChildError, Worker
from tasks.core.sections import ConvertSettings
from tasks.core.wording import counted
from tasks.document.converting.furniture import remove_furniture
from tasks.document.converting.layout import Piece, order
from tasks.document.converting.paragraphs import Line, write_lines
from tasks.document.converting.segment import Grid, Segment, Sheet, place
from tasks.document.converting.written import converted, without_text

_START = 30.0
"""Seconds in which a child starts, on a busy machine."""
_DOTS = 200
"""Dots an inch of a page that is read by OCR."""
_HINT = f"for OCR run `{ocr.INSTALL}` and try again, or save it with a text layer"


@dataclass
class _Read:
    """What was read of a document so far."""

    sheets: list[Sheet] = field(default_factory=list)
    notes: list[PageNote] = field(default_factory=list)
    hidden: dict[int, int] = field(default_factory=dict)
    passing: bool = False
    restarted: bool = False
    """The child was stopped: the next request starts a new one."""

    def note(self, page: int, status: Literal["ocr", "image_only", "empty", "unreadable"], reason: str) -> None:
        self.notes.append(PageNote(page=page, status=status, reason=reason))


async def convert_pdf(path: Path, file: SourceFile, settings: ConvertSettings) -> Converted:
    """The PDF's text; a page that hangs, crashes or has no text costs that page."""
    deadline = time.monotonic() + settings.file_seconds
    child = Worker("tasks.document.converting.reader", settings.memory_mb, forked=True)
    eye = Worker("tasks.core.ocr", settings.memory_mb * 2)
    read = _Read()
    try:
        opened = await child.ask({"do": "open", "path": str(path)}, settings.page_seconds + _START)
        if error := opened.get("error"):
            return without_text(file, "unreadable", f"damaged: {error}")
        if opened["status"]:
            return without_text(file, opened["status"], opened["reason"])
        for page in range(1, opened["pages"] + 1):
            if time.monotonic() > deadline:
                read.note(page, "unreadable", "the time of the file was used up: raise convert.file_seconds")
                read.passing = True
                continue
            await _page(child, eye, read, {"path": str(path), "page": page, "settings": settings})
    except ChildError as error:
        return without_text(file, "unreadable", error.message, passing=error.stopped == "time")
    finally:
        await child.close()
        await eye.close()
    lines, removed = await asyncio.to_thread(_lines, read.sheets)
    return _result(file, read, lines, [*opened["notes"], *_remarks(read, removed)])


async def _page(child: Worker, eye: Worker, read: _Read, at: dict[str, Any]) -> None:
    page, settings = at["page"], at["settings"]
    request = {"do": "page", "path": at["path"], "page": page, "page_chars": settings.page_chars}
    seconds = settings.page_seconds + (_START if read.restarted else 0)
    read.restarted = False
    try:
        reply = await child.ask(request, seconds)
    except ChildError as error:
        read.restarted = True
        read.note(page, "unreadable", f"reading it {error.message}")
        read.passing = read.passing or error.stopped == "time"
        return
    if "status" not in reply or reply.get("error"):
        read.note(page, "unreadable", reply.get("error") or reply.get("reason", "cannot be opened again"))
        return
    sheet = _sheet(page, reply)
    if reply["hidden"]:
        read.hidden[page] = reply["hidden"]
    if reply["status"] in ("image_only", "unreadable"):
        seen = await _look(child, eye, sheet, at) if settings.ocr and ocr.is_installed() else _HINT
        if isinstance(seen, Sheet):
            read.note(page, "ocr", f"{reply['reason']}; read by OCR: compare numbers with the page")
            read.sheets.append(seen)
            return
        read.note(page, reply["status"], f"{reply['reason']}: {seen}")
        if reply["status"] == "unreadable":
            return
    elif reply["status"]:
        read.note(page, reply["status"], reply["reason"])
    read.sheets.append(sheet)


async def _look(child: Worker, eye: Worker, sheet: Sheet, at: dict[str, Any]) -> Sheet | str:
    """The page read by OCR, or why it was not."""
    seconds = at["settings"].page_seconds
    with stores.current().scratch("ocr-") as folder:
        to = str(Path(folder) / "page.png")
        try:
            request = {"do": "draw", "path": at["path"], "page": at["page"], "to": to, "dots": _DOTS}
            drawn = await child.ask(request, seconds)
            if "error" in drawn:
                return f"it cannot be drawn: {drawn['error']}"
            seen = await eye.ask({"picture": to}, seconds + ocr.SECONDS)
        except ChildError as error:
            return f"OCR {error.message}"
    if "error" in seen:
        return f"OCR failed: {seen['error']}"
    segments = place(seen["runs"], sheet.page, 72 / drawn["dots"])
    if not segments:
        return "OCR found no text on it"
    return Sheet(sheet.page, drawn["width"], drawn["height"], segments, [])


def _sheet(page: int, reply: dict[str, Any]) -> Sheet:
    segments = [
        Segment(text, x0, x1, base, size, tuple(box), page, odd)
        for text, x0, x1, base, size, box, odd in reply["segments"]
    ]
    grids = [Grid(rows, [tuple(box) for box in boxes], x0, x1, y0, page) for rows, boxes, x0, x1, y0 in reply["grids"]]
    return Sheet(page, reply["width"], reply["height"], segments, grids)


def _lines(sheets: list[Sheet]) -> tuple[list[Line], int]:
    kept, removed = remove_furniture(sheets)
    pieces: list[Piece] = [piece for sheet in kept for piece in order(sheet)]
    return write_lines(pieces), removed


def _remarks(read: _Read, removed: int) -> list[str]:
    remarks = []
    if removed:
        remarks.append(f"{removed} headers, footers and page numbers were left out")
    if read.hidden:
        pages = ", ".join(map(str, list(read.hidden)[:10]))
        count = sum(read.hidden.values())
        remarks.append(
            f"{count} characters that nobody sees on the page (invisible, white, tiny) were left out: p. {pages}"
        )
    return remarks


def _result(file: SourceFile, read: _Read, lines: list[Line], notes: list[str]) -> Converted:
    bad = [note for note in read.notes if note.status in ("image_only", "unreadable")]
    pages = tuple(read.notes)
    if lines:
        status: ConvertStatus = "partial" if bad else "converted"
        made = converted(file, lines, status, tuple(notes), pages)
        reason = (
            f"{counted(len(bad), 'page')} without text, the first is p. {bad[0].page}: {bad[0].reason}" if bad else ""
        )
    else:
        kinds = {note.status for note in bad}
        status = "image_only" if "image_only" in kinds else "unreadable" if kinds else "empty"
        reason = bad[0].reason if bad else "no page has text on it"
        made = without_text(file, status, reason).model_copy(update={"pages": pages, "notes": tuple(notes)})
    unsettled = "stopped" if read.passing else ""
    return made.model_copy(update={"reason": reason, "unsettled": unsettled})
