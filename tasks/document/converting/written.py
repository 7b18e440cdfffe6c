"""Lines of a document → `Converted`, its text and places kept in the store."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from tasks.core.files import store as stores
from tasks.core.models.document import Converted, ConvertStatus, PageNote
from tasks.core.models.source import SourceFile
from tasks.document.converting.paragraphs import Line


def converted(
    file: SourceFile,
    lines: list[Line],
    status: ConvertStatus,
    notes: tuple[str, ...] = (),
    pages: tuple[PageNote, ...] = (),
) -> Converted:
    """The document with these lines; line ends inside a line become spaces."""
    path = PurePosixPath(file.path)
    texts = [line.text.replace("\n", " ") for line in lines]
    text = "".join(f"{text}\n" for text in texts)
    name = path.name if status == "as_is" else f"{path.stem}.md"
    places = [
        {"path": file.path, "line": number, "page": line.page, "box": line.box} for number, line in enumerate(lines, 1)
    ]
    store = stores.current()
    return Converted(
        stem=path.stem,
        paths=(file.path,),
        status=status,
        text=store.put(text.encode("utf-8", "replace"), name),
        places=store.put(json.dumps(places, ensure_ascii=False).encode(), f"{path.stem}.places.json"),
        lines=len(lines),
        pages=pages,
        notes=notes,
    )


def without_text(file: SourceFile, status: ConvertStatus, reason: str, passing: bool = False) -> Converted:
    """The document of which there is no text; `passing` = the next run tries again."""
    made = Converted(stem=PurePosixPath(file.path).stem, paths=(file.path,), status=status, reason=reason)
    return made.model_copy(update={"unsettled": "stopped"}) if passing else made
