"""Name and first bytes of a file → what it is and what shall become of it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NamedTuple

from tasks.core.files.text import binary
from tasks.core.models.source import FileKind, Outcome

HEAD = 4096
"""Bytes that `judge` wants to see."""

_SUFFIXES: dict[FileKind, tuple[str, ...]] = {
    "csv": (".csv", ".tsv", ".tab", ".psv"),
    "json": (".json", ".jsonl", ".ndjson", ".geojson"),
    "sqlite": (".db", ".sqlite", ".sqlite3", ".db3", ".s3db", ".sl3"),
    "excel": (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"),
    "parquet": (".parquet", ".pq", ".feather", ".arrow", ".orc"),
    "document": (".md", ".markdown", ".txt", ".pdf", ".docx", ".html", ".htm"),
    "video": (".mp4", ".avi", ".mov", ".mkv", ".webm", ".wmv", ".m4v"),
}
_KINDS: dict[str, FileKind] = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_MAGIC = (
    (b"SQLite format 3\0", "a SQLite database"),
    (b"PK\x03\x04", "a ZIP archive or Excel file"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"%PDF-", "a PDF"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"ORC", "an ORC file"),
    (b"\x1f\x8b", "gzip-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"BZh", "bzip2-compressed"),
    (b"\xfd7zXZ\0", "xz-compressed"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x7fELF", "a program"),
)
_HTML = re.compile(rb"\s*(<!--.*?-->\s*)?<(!doctype html|html|head|body|table)\b", re.IGNORECASE | re.DOTALL)
_JSON = re.compile(rb"\s*(\[\s*\{\s*\"|\{\s*\"[^\"\n]*\"\s*:)")
_BOOKS = ("a ZIP archive or Excel file", "an old Office file")
_COLUMNAR = ("a Parquet file", "an Arrow file", "an ORC file")
_UNICODE = (b"\xff\xfe", b"\xfe\xff")
_BINARY = "binary, not text: get it again, or export it as text (UTF-8) from its program"
_OFFICE = {".doc", ".odt", ".rtf", ".pptx", ".ppt", ".epub"}
_METADATA = {f"{place}metadata{suffix}" for place in ("", "context/") for suffix in (".yaml", ".yml")}
_SYSTEM = {"thumbs.db", "desktop.ini", "ehthumbs.db"}
FRAMES = "_video_frames"
"""Folder with what was made of a video beforehand."""
_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
"""What an MP4 or QuickTime file begins with, after four bytes of length."""
_FILMS = (b"\x1aE\xdf\xa3", b"RIFF", b"0&\xb2u\x8ef\xcf\x11")
"""Matroska and WebM, AVI, Windows Media."""
VIDEO_TEXTS = ("video_input.json", "timeline.txt")
"""Files there that hold its text, the better one first."""


class Verdict(NamedTuple):
    """Kind, outcome and reason of one file."""

    kind: FileKind
    outcome: Outcome
    reason: str = ""


def kind_by_name(name: str) -> FileKind:
    """What a file of this name should be."""
    return _KINDS.get(PurePosixPath(name.lower()).suffix, "other")


def judge(path: str, head: bytes, size: int) -> Verdict:
    """What the file at this relative path is, by its suffix and its first bytes."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name.lower()).suffix
    kind = kind_by_name(name)
    if name.startswith("~$") or name.lower() in _SYSTEM:
        return Verdict(kind, "ignored", "a file of an office program or the system, not of the data")
    if path.lower() in _METADATA:
        return Verdict("metadata", "knowledge")
    if is_frames_file(path):
        return _frames_file(name, size)
    if side := _side(name):
        return Verdict("other", "ignored", f"belongs to {side} and is read with it")
    found = next((what for magic, what in _MAGIC if head.startswith(magic)), "")
    if found == "a SQLite database":
        reason = "" if kind == "sqlite" else f"{found}, whatever its suffix says"
        return Verdict("sqlite", "table", reason)
    if kind == "csv":
        return _csv(head, size, found)
    if kind == "json":
        return _text(kind, head, size, found)
    if kind == "sqlite":
        what = f"{found}, no SQLite database" if found else "no SQLite database, or an encrypted one"
        return Verdict(kind, "unreadable", what if size else "the file is empty")
    if kind == "document":
        return _document(name, suffix, head, found)
    if kind == "excel":
        return _excel(head, size, found)
    if kind == "parquet":
        what = found or "no Parquet, Arrow or ORC file, or a damaged one"
        good = found in _COLUMNAR or suffix == ".feather"
        return (
            Verdict(kind, "table")
            if size and good
            else Verdict(kind, "unreadable", what if size else "the file is empty")
        )
    if kind == "video":
        return _video(head, size, found)
    if found in _COLUMNAR[:2]:
        return Verdict("parquet", "table", f"{found}, whatever its suffix says")
    return Verdict("other", "ignored", _other(suffix, found))


def is_frames_file(path: str) -> bool:
    """Whether it lies in the folder that the preparation of a video writes."""
    return FRAMES in [part.casefold() for part in PurePosixPath(path).parts[:-1]]


def _frames_file(name: str, size: int) -> Verdict:
    if name.casefold() not in VIDEO_TEXTS:
        return Verdict("video", "ignored", "a working file of a video's preparation")
    return Verdict("video", "video") if size else Verdict("video", "unreadable", "the file is empty")


def _video(head: bytes, size: int, found: str) -> Verdict:
    """A list of other places in the guise of a video would make a decoder read them."""
    if not size:
        return Verdict("video", "unreadable", "the file is empty")
    good = head[4:8] in _BOXES or head.startswith(_FILMS)
    return (
        Verdict("video", "video") if good else Verdict("video", "unreadable", f"{found or 'text or damaged'}, no video")
    )


def _side(name: str) -> str:
    """The database that a side file belongs to; empty for other files."""
    found = re.fullmatch(r"(.+\.(?:db|sqlite|sqlite3|db3))-(?:wal|shm|journal)", name, re.IGNORECASE)
    return found[1] if found else ""


def _excel(head: bytes, size: int, found: str) -> Verdict:
    """Text that is called `.xls` is common: exports of web pages and of databases."""
    if not size:
        return Verdict("excel", "unreadable", "the file is empty")
    if head.lstrip().startswith(b"<?xml"):
        return Verdict("excel", "unreadable", "XML, no workbook: save it as .xlsx")
    if found or (b"\0" in head and not head.startswith(_UNICODE)):
        good = found in ("", *_BOOKS)
        return Verdict("excel", "table") if good else Verdict("excel", "unreadable", f"{found}, no Excel workbook")
    kind, outcome, reason = _csv(head, size, found)
    return Verdict(kind, outcome, reason or "text, whatever its suffix says")


def _csv(head: bytes, size: int, found: str) -> Verdict:
    if _JSON.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Verdict("json", "table", "JSON, whatever its suffix says")
    return _text("csv", head, size, found)


def _text(kind: FileKind, head: bytes, size: int, found: str) -> Verdict:
    if not size:
        return Verdict(kind, "unreadable", "the file is empty")
    if found in _BOOKS:
        return Verdict("excel", "table", f"{found}, whatever its suffix says")
    if found in _COLUMNAR[:2]:
        return Verdict("parquet", "table", f"{found}, whatever its suffix says")
    if found:
        return Verdict(kind, "unreadable", f"{found}, no {kind.upper()}")
    if why := binary(head):
        return Verdict(kind, "unreadable", f"{_BINARY}: {why}")
    if _HTML.match(head):
        return Verdict(
            kind, "unreadable", f"an HTML page, no {kind.upper()}: was a web page saved in place of the data?"
        )
    return Verdict(kind, "table")


def _document(name: str, suffix: str, head: bytes, found: str) -> Verdict:
    if suffix == ".pdf":
        good = b"%PDF-" in head[:1024]
        return Verdict("document", "document") if good else Verdict("document", "unreadable", f"{found or 'no PDF'}")
    if suffix == ".docx" and found in _BOOKS:
        return Verdict("document", "document")  # an encrypted one is told from a damaged one when it is read
    if found or suffix == ".docx":
        return Verdict("document", "unreadable", f"{found}, no text" if found else "no Word document")
    if why := binary(head):
        return Verdict("document", "unreadable", f"{_BINARY}: {why}")
    if PurePosixPath(name).stem.casefold() == "knowledge" and suffix not in (".html", ".htm"):
        return Verdict("knowledge", "knowledge")
    return Verdict("document", "document")


def _other(suffix: str, found: str) -> str:
    if suffix in _OFFICE:
        return f"{suffix} documents are not read: save it as PDF or Markdown"
    if found:
        hint = ": unpack it" if "compressed" in found or "archive" in found else ""
        return f"{found}{hint}"
    return f"files with the suffix {suffix} are not read" if suffix else "a file without suffix is not read"
