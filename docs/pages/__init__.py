"""The code → the reference pages of the documentation, and pages of Markdown files that lie elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {
    "folder": (ROOT / "data" / "README.md", "../docs/", "../"),
    "contributing": (ROOT / "CONTRIBUTING.md", "docs/", "../"),
    "changes": (ROOT / "CHANGELOG.md", "docs/", "../"),
}
"""By page: the file, how it names pages of docs/, and what stands in place of that here."""


def write(folder: Path) -> None:
    """Write every page into the folder; a page that is as it was keeps its time, so that it is not built anew."""
    from docs.pages import commands, evidence, exits, messages, settings, stages

    pages = {
        "commands.md": commands.page(),
        "settings.md": settings.page(),
        "stages.md": stages.page(),
        "exits.md": exits.page(),
        "evidence.md": evidence.page(),
        "evidence.schema.json": evidence.schema(),
        "errors.md": messages.page(),
        **{f"{name}.md": _led(*given) for name, given in ELSEWHERE.items()},
    }
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def cell(text: str) -> str:
    """A text as a cell of a Markdown table: on one line, its signs shown as they are outside of code."""
    line = " ".join(text.split()).replace("|", "\\|")
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return re.sub(r"([\\*_<>\[\]`])", r"\\\1", line)
    return "`".join(part if at % 2 else re.sub(r"([*_<>\[\]])", r"\\\1", part) for at, part in enumerate(parts))


def code(text: str) -> str:
    """A text as code in a cell of a Markdown table; empty stays empty."""
    line = " ".join(text.split()).replace("|", "\\|")
    mark = "``" if "`" in line else "`"
    return f"{mark}{line}{mark}" if line else ""


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table of cells that are Markdown already."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _led(path: Path, theirs: str, ours: str) -> str:
    """A file's text with links that lead from `generated/`."""
    return path.read_text("utf-8").replace(f"]({theirs}", f"]({ours}")
