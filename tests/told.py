"""README.md and docs/*.md → the commands that they tell a reader to run, each with its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "data" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
_FENCE = re.compile(r"^(?P<mark>```+)(?P<tag>[^\n`]*)\n(?P<text>.*?)^(?P=mark)\s*$", re.MULTILINE | re.DOTALL)
_OURS = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?(?:tablewright|make|prefect|docker|python|pip|export) ", re.MULTILINE)
_SHELL = ("console", "bash", "sh")


class Told(NamedTuple):
    """One command of a page."""

    page: str
    text: str
    """Without the prompt and a remark behind it; with the lines of a here-document."""


def told(path: Path) -> list[Told]:
    """The commands of a page in their order."""
    page = path.relative_to(ROOT).as_posix()
    return [Told(page, text) for block in blocks(path) for text in commands(block)]


def blocks(path: Path) -> Iterator[str]:
    """The fenced blocks of a page that hold commands: those of a shell, and untagged ones with a line that calls us."""
    for found in _FENCE.finditer(path.read_text("utf-8")):
        tag = found["tag"].strip()
        if tag in _SHELL or (not tag and _OURS.search(found["text"])):
            yield found["text"]


def commands(block: str) -> Iterator[str]:
    """The commands of a block; with a `$ ` anywhere only what stands behind one, for the rest is output."""
    lines = block.splitlines()
    prompted = any(line.startswith("$ ") for line in lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip() or line.startswith("#") or (prompted and not line.startswith("$ ")):
            continue
        line = line.removeprefix("$ ")
        while at < len(lines) and (line.endswith("\\") or lines[at].startswith("    ")):
            line = f"{line.removesuffix(chr(92)).rstrip()} {lines[at].strip()}"
            at += 1
        if here := re.search(r"<<'?(\w+)'?", line):
            end = lines.index(here[1], at)
            line = "\n".join([line, *lines[at : end + 1]])
            at = end + 1
            yield line
            continue
        yield re.sub(r"\s+#\s.*$", "", line).strip()
