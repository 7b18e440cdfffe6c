"""Slides and their seconds → a small video file, as a screen recording would be one; needs the extra `video`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from papers import CHINESE, LATIN

WIDTH, HEIGHT, RATE = 1280, 720, 10


def slide(*rows: str, boxed: bool = False) -> Any:
    """A picture with these rows of text, Chinese or not."""
    import numpy as np
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page(width=WIDTH, height=HEIGHT)
        for number, row in enumerate(rows):
            font = LATIN if row.isascii() else CHINESE
            page.insert_text((90, 130 + 90 * number), row, fontsize=44, fontname=font)
        if boxed:
            page.draw_rect((60, 60, WIDTH - 60, 100 + 90 * len(rows)), color=(0.2, 0.4, 0.8), width=4)
        drawn = page.get_pixmap(alpha=False)
    return np.frombuffer(drawn.samples, np.uint8).reshape(HEIGHT, WIDTH, 3)[:, :, ::-1].copy()


def moving(count: int) -> list[Any]:
    """Frames of which no two are alike."""
    import numpy as np

    bars = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    bars[:, ::4] = bars[:, 1::4] = 255
    wide = np.repeat(bars[:, : WIDTH // 40], 40, 1)
    return [np.roll(wide, 30 * number, 1) for number in range(count)]


def film(path: Path, scenes: Sequence[tuple[Any, float]]) -> Path:
    """Write pictures, each for its seconds."""
    import cv2

    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), RATE, (WIDTH, HEIGHT))
    for picture, seconds in scenes:
        for _ in range(round(seconds * RATE)):
            writer.write(picture)
    writer.release()
    return path
