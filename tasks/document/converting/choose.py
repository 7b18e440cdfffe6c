"""Document files → those to convert, and why the others are not; settings → those that hold on this machine."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from tasks.core import ocr
from tasks.core.models.source import SourceFile
from tasks.core.sections import ConvertSettings

READABLE = (".md", ".markdown", ".txt", ".docx", ".html", ".htm", ".pdf")
_TEXTS = (".md", ".markdown", ".txt")


class Chosen(NamedTuple):
    """Files to convert in path order, and (path, why) of each that is left out."""

    files: tuple[SourceFile, ...]
    left_out: tuple[tuple[str, str], ...]


def choose_files(files: tuple[SourceFile, ...]) -> Chosen:
    """A file beside a text of the same name is not converted again: somebody did so already, maybe better."""
    texts: dict[str, str] = {}
    for file in sorted(files, key=lambda file: _TEXTS.index(_suffix(file)) if _suffix(file) in _TEXTS else 9):
        if _suffix(file) in _TEXTS:
            texts.setdefault(_place(file), file.path)
    chosen, left_out = [], []
    for file in files:
        text = texts.get(_place(file))
        if _suffix(file) not in READABLE:
            left_out.append((file.path, f"not read: documents are {', '.join(READABLE)}"))
        elif text and _suffix(file) not in _TEXTS:
            left_out.append((file.path, f"not converted: {text} of the same name is taken as its text"))
        else:
            chosen.append(file)
    return Chosen(tuple(chosen), tuple(left_out))


def for_this_machine(settings: ConvertSettings) -> ConvertSettings:
    """The settings without OCR where the extra is not installed, so that a record made without it is not one with it."""
    return settings if ocr.is_installed() else settings.model_copy(update={"ocr": False})


def _suffix(file: SourceFile) -> str:
    return PurePosixPath(file.path).suffix.lower()


def _place(file: SourceFile) -> str:
    return PurePosixPath(file.path).with_suffix("").as_posix().casefold()
