"""Real documents, made for a test."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tasks.core.files.store import Store, digest_file
from tasks.core.models.document import Converted, Place
from tasks.core.models.source import SourceFile
from tasks.document.convert import convert_document

CHINESE, LATIN = "china-s", "helv"


class Paper:
    """A PDF page by page; text is set by baselines, so that a test knows where each line stands."""

    def __init__(self, width: float = 595, height: float = 842) -> None:
        import pymupdf

        self.width, self.height = width, height
        self.document: Any = pymupdf.open()
        self.page: Any = None

    def new(self) -> Paper:
        """A new page, on which is written from now on."""
        self.page = self.document.new_page(width=self.width, height=self.height)
        return self

    def lines(self, x: float, y: float, texts: list[str], size: float = 11, step: float = 1.3) -> float:
        """Lines of text below each other; returns the baseline after the last."""
        for text in texts:
            font = LATIN if text.isascii() else CHINESE
            self.page.insert_text((x, y), text, fontsize=size, fontname=font)
            y += step * size
        return y

    def grid(self, x: float, y: float, rows: list[list[str]], wide: float = 90, tall: float = 20) -> None:
        """A ruled table."""
        for r, cells in enumerate(rows):
            for c, text in enumerate(cells):
                box = (x + c * wide, y + r * tall, x + (c + 1) * wide, y + (r + 1) * tall)
                self.page.draw_rect(box, color=(0, 0, 0), width=0.7)
                font = LATIN if text.isascii() else CHINESE
                self.page.insert_text((box[0] + 4, box[3] - 6), text, fontsize=10, fontname=font)

    def picture(self, box: tuple[float, float, float, float], text: str = "") -> None:
        """An image without a text layer; the text is drawn into it."""
        import pymupdf

        drawn = pymupdf.open()
        page: Any = drawn.new_page(width=box[2] - box[0], height=box[3] - box[1])
        page.draw_rect((5, 5, 60, 20), color=(0.4, 0.4, 0.4), fill=(0.4, 0.4, 0.4))
        page.insert_text((20, 60), text, fontsize=16, fontname=LATIN if text.isascii() else CHINESE)
        self.page.insert_image(box, pixmap=page.get_pixmap(dpi=150))

    def save(self, path: Path, **options: Any) -> Path:
        """Write the file."""
        self.document.save(str(path), **options)
        return path


def convert(path: Path, settings: Any, store: Store) -> tuple[Converted, list[str], list[Place]]:
    """The document at this path, its lines and their places."""
    file = SourceFile(path=path.name, kind="document", size=1, sha256=digest_file(path), outcome="document")
    made = asyncio.run(convert_document(str(path.parent), file, settings.convert))
    if made.text is None or made.places is None:
        return made, [], []
    places = [Place.model_validate(place) for place in json.loads(store.get(made.places))]
    lines = store.get(made.text).decode().split("\n")[:-1]
    assert len(lines) == len(places) == made.lines
    return made, lines, places
