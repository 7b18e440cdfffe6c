"""Knowledge files of a folder → Knowledge: sections, definitions, metrics, links and rules, each with its line."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from tasks.core.files.text import read_text
from tasks.core.models.semantics import Knowledge
from tasks.core.models.source import Inventory
from tasks.intake.parsing import headings, statements
from tasks.stage import stage


@stage()
async def read_knowledge(inventory: Inventory) -> Knowledge:
    """Read all knowledge files; lines count through their joined text. A folder without one gives an empty Knowledge."""
    files = [file for file in inventory.of("knowledge") if file.kind == "knowledge"]
    if not files:
        return Knowledge()
    texts = [(file.path, _text(Path(inventory.root) / file.path)) for file in files]
    return parse(join(texts), "; ".join(path for path, _ in texts), _table_names(inventory))


def join(texts: list[tuple[str, str]]) -> str:
    """One text; where there are several files, each begins with a line that names it."""
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(f"<!-- {path} -->\n{text}" for path, text in texts)


def parse(text: str, path: str = "", tables: frozenset[str] = frozenset()) -> Knowledge:
    """What a knowledge text says; `tables` are names known to be tables, in lower case."""
    found = statements.read(text, tables)
    return Knowledge(
        path=path,
        text=text,
        sections=headings.sections(text),
        definitions=tuple(found.definitions),
        metrics=tuple(found.metrics),
        links=tuple(found.links),
        rules=tuple(found.rules),
    )


def _text(path: Path) -> str:
    text, _, _ = read_text(path)
    return headings.uncommented(text.replace("\0", ""))


def _table_names(inventory: Inventory) -> frozenset[str]:
    named = (*inventory.of("table"), *inventory.of("document"))
    return frozenset(PurePosixPath(file.path).stem.lower() for file in named)
