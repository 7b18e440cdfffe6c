"""a Markdown file + a text → the file with that text between its two markers; all else stays as it is, byte for byte."""

from __future__ import annotations

from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.files.store import Folder


def replace_section(file: Path, name: str, text: str) -> None:
    """Put the text between the markers of that name. Raises InputError when the file has not exactly one pair of them."""
    begin, end = markers(name)
    try:
        before = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}", "name a Markdown file that is there") from error
    at, until = before.find(begin), before.find(end)
    if before.count(begin) != 1 or before.count(end) != 1 or until < at:
        raise InputError(f"{file} has no place for this: it needs two lines, once each", f"add them: {begin} and {end}")
    whole = f"{before[: at + len(begin)]}\n\n{text.strip()}\n\n{before[until:]}"
    try:
        Folder(file.parent).write(file.name, whole.encode())
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}", "choose another file") from error


def markers(name: str) -> tuple[str, str]:
    """The line before and the line after; HTML comments, so a reader does not see them."""
    return f"<!-- {name}: written by tablewright benchmark -->", f"<!-- end of {name} -->"
