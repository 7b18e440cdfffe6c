"""Inventory → the texts of its Markdown and text documents, kept to be read by line."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from tasks.core.files import store as stores
from tasks.core.files.text import read_text
from tasks.core.models.catalogue import Document
from tasks.core.models.source import Inventory

_READABLE = (".md", ".markdown", ".txt")


def keep_documents(inventory: Inventory) -> tuple[Document, ...]:
    """Each document that is text already, as UTF-8 with `\\n` as line end; one that cannot be read any more is left out."""
    found = []
    for file in inventory.of("document"):
        path = PurePosixPath(file.path)
        if path.suffix.lower() not in _READABLE:
            continue
        try:
            text, _, _ = read_text(Path(inventory.root) / file.path)
        except OSError:
            continue  # it vanished since the inventory, which has the last word on it
        lines = text.split("\n")
        ref = stores.current().put(text.encode(), path.name)
        found.append(Document(path=file.path, text=ref, lines=len(lines) - (lines[-1] == "")))
    return tuple(found)
