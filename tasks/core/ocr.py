"""The looking child: a picture → runs of text with their place in it, by the optional extra `ocr`."""

from __future__ import annotations

import importlib.util
import unicodedata
from typing import Any

from tasks.core import answering

SECONDS = 120
"""A page takes 3 to 20 s on two cores, the first one also loads the models."""
INSTALL = "pip install --no-deps -r requirements-ocr.txt"
"""What brings the extras `ocr` and `video`."""
_SURE = 0.5


class Eye:
    """Answers requests for one picture each; the models are loaded with the first."""

    def __init__(self) -> None:
        self._engine: Any = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """`runs`: text, corners in dots (x0, y0, x1, y1)."""
        if self._engine is None:
            from rapidocr import RapidOCR

            self._engine = RapidOCR()
        seen = self._engine(request["picture"])
        runs = []
        if seen is not None and seen.txts is not None:
            for text, box, score in zip(seen.txts, seen.boxes, seen.scores, strict=True):
                xs, ys = [float(p[0]) for p in box], [float(p[1]) for p in box]
                if float(score) >= _SURE:
                    runs.append([_half(text), min(xs), min(ys), max(xs), max(ys)])
        return {"runs": runs}


def is_installed() -> bool:
    """Whether the extra is there."""
    return importlib.util.find_spec("rapidocr") is not None


def _half(text: str) -> str:
    """Digits and their signs in half width: OCR writes `3．5` where the page has `3.5`."""
    wide = "０１２３４５６７８９．％－＋"
    return "".join(unicodedata.normalize("NFKC", character) if character in wide else character for character in text)


def main() -> None:
    """Answer requests until the parent ends."""
    answering.answer_requests(Eye().handle)


if __name__ == "__main__":
    main()
