"""PDF → Markdown: ours, pymupdf4llm with and without its layout model, pdfplumber, over the same printed pages."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import quality
from bench.conftest import Limit, Race
from bench.printed import KINDS, Printed, print_pages
from papers import convert

SIZES = (2, 4, 12)
Read = tuple[str, list[quality.Row]]
"""Text, and the rows of its tables."""
_LIMIT = Limit(
    peer="pdfplumber",
    ratio=3.0,
    why="reads each page in a child with limits, and finds columns, headings and paragraphs",
)


def _by_pdfplumber(path: Path) -> Read:
    import pdfplumber

    texts, rows = [], []
    with pdfplumber.open(path) as document:
        for page in document.pages:
            texts.append(page.extract_text())
            rows += [tuple(cell or "" for cell in row) for table in page.extract_tables() for row in table]
    return "\n".join(texts), rows


def _by_pymupdf4llm(path: Path, layout: bool) -> Read:
    import pymupdf4llm

    with contextlib.redirect_stdout(io.StringIO()):  # it recommends a package
        pymupdf4llm.use_layout(layout)
        text = str(pymupdf4llm.to_markdown(str(path), show_progress=False))
    return text, quality.rows(text)


READERS: dict[str, Callable[[Path], Read]] = {
    "pdfplumber": _by_pdfplumber,
    "pymupdf4llm": lambda path: _by_pymupdf4llm(path, True),
    "pymupdf4llm, no layout model": lambda path: _by_pymupdf4llm(path, False),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("who", ["ours", *READERS])
def bench_pages(race: Race, tmp_path: Path, kind: str, who: str, size: int, store: Any, settings: Any) -> None:
    printed = print_pages(tmp_path, kind, size)

    def ours(path: Path) -> Read:
        text = "\n".join(convert(path, settings, store)[1])
        return text, quality.rows(text)

    reader = ours if who == "ours" else READERS[who]
    reader(print_pages(tmp_path, kind, 1).path)
    of = (f"PDF pages, {kind}", who, size, "pages")
    limit = _LIMIT if who == "ours" else None
    found = race(
        of, reader, prepare=lambda: (_again(printed, tmp_path),), rounds=2 if who == "ours" else 1, limit=limit
    )
    race.say(**_judged(printed, found))


def _again(printed: Printed, folder: Path) -> Path:
    """The file with other bytes behind its end, so that nothing is known of it."""
    path = folder / f"again_{len(list(folder.iterdir()))}.pdf"
    path.write_bytes(printed.path.read_bytes() + f"\n%{path.name}\n".encode())
    return path


def _judged(printed: Printed, found: Read) -> dict[str, str]:
    text, rows = found
    said = {
        "character errors": f"{quality.errors(printed.text, _flat(text)):.1%}",
        "words": f"{quality.words(printed.text, text):.1%}",
    }
    return said | ({"cells": f"{quality.cells(printed.rows, rows):.1%}"} if printed.rows else {})


def _flat(text: str) -> str:
    """Tables as the truth has them: cells apart, without the lines that rule them."""
    kept = [line for line in text.splitlines() if not quality.is_rule(line)]
    return "\n".join(line.replace("|", " ") if line.lstrip().startswith("|") else line for line in kept)
