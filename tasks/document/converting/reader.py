"""The reading child: a page of a PDF, or a whole Word or HTML document, one request each.

A file that fails, hangs or eats the memory ends here; the parent goes on with the next page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks.core import answering, settings
from tasks.document import convert
from tasks.document.converting import web, word


class Reader:
    """Answers `open`, `page`, `draw`, `word` and `web`; a new child opens the document again by itself."""

    def __init__(self) -> None:
        self._path = ""
        self._document: Any = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request, one reply; `error` says why there is nothing else."""
        try:
            return self._answer(request)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 the file reader's door: libraries raise what they like on damaged files
            return {"error": f"{type(error).__name__}: {_without_folders(str(error), request)[:300]}"}

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] in ("word", "web"):
            read = word.read_word if request["do"] == "word" else web.read_web
            lines, notes = read(Path(request["path"]))
            Path(request["to"]).write_text(json.dumps(lines, ensure_ascii=False), "utf-8")
            return {"notes": notes}
        if self._document is None or self._path != request["path"]:
            opened = convert.open_pdf(request["path"])
            self._document, self._path = opened.pop("document", None), request["path"]
            if request["do"] == "open" or self._document is None:
                return opened
        if request["do"] == "draw":
            return convert.draw_page(self._document, request["page"], request["to"], request["dots"])
        return convert.read_page(self._document, request["page"], request["page_chars"])


def _without_folders(text: str, request: dict[str, Any]) -> str:
    """A message with files by their names alone: it is kept, and where the folder lies is nobody's business."""
    for name in ("path", "to"):
        if name in request:
            text = text.replace(f"{Path(request[name]).parent}/", "")
    return text


def main() -> None:
    """Answer requests until the parent ends."""
    settings.set_default("OPENBLAS_NUM_THREADS", "1")  # one thread: then it can be forked
    answering.answer_requests(Reader().handle, convert.warm)


if __name__ == "__main__":
    main()
