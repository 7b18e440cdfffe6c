"""Markdown or text file → its lines as they are; line numbers are those of the file."""

from __future__ import annotations

from pathlib import Path

from tasks.core.files.text import read_text
from tasks.core.models.document import Converted
from tasks.core.models.source import SourceFile
from tasks.document.converting.paragraphs import Line
from tasks.document.converting.written import converted, without_text


def convert_plain(path: Path, file: SourceFile) -> Converted:
    """The text as UTF-8 with `\\n` as line end. Raises OSError when the file cannot be read."""
    text, encoding, lost = read_text(path)
    lines = text.split("\n")
    notes = [encoding.note] if encoding.note else []
    if lost:
        notes.append(f"{lost} characters could not be decoded")
    if not text.strip():
        return without_text(file, "empty", "there is no text in it")
    if lines[-1] == "":
        lines.pop()
    return converted(file, [Line(line, 0, None) for line in lines], "as_is", tuple(notes))
