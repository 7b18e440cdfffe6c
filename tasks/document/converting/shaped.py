"""Word or HTML file → Markdown lines, read in a killable child."""

from __future__ import annotations

import json
from pathlib import Path

from tasks.core.files import store as stores
from tasks.core.models.document import Converted
from tasks.core.models.source import SourceFile
from tasks.core.process import ChildError, Worker
from tasks.core.sections import ConvertSettings
from tasks.document.converting.paragraphs import Line
from tasks.document.converting.written import converted, without_text


async def convert_shaped(path: Path, file: SourceFile, settings: ConvertSettings) -> Converted:
    """The document's headings, paragraphs, lists and tables; it has no pages."""
    worker = Worker("tasks.document.converting.reader", settings.memory_mb, forked=True)
    kind = "word" if path.suffix.lower() == ".docx" else "web"
    with stores.current().scratch("convert-") as folder:
        to = Path(folder) / "lines.json"
        try:
            reply = await worker.ask({"do": kind, "path": str(path), "to": str(to)}, settings.file_seconds)
        except ChildError as error:
            return without_text(file, "unreadable", error.message, passing=error.stopped == "time")
        finally:
            await worker.close()
        if "error" in reply:
            return without_text(file, "unreadable", reply["error"])
        texts = json.loads(to.read_text("utf-8"))
    if not texts:
        return without_text(file, "empty", "there is no text in it")
    return converted(file, [Line(text, 0, None) for text in texts], "converted", tuple(reply["notes"]))
