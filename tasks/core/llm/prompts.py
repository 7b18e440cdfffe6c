"""A prompt file and its holes → prompt text; data goes in fenced."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template


def fill(path: Path, **holes: str) -> str:
    """The text of a prompt file with every `$hole` filled; `$$` stands for a dollar sign.

    Raises ValueError for a hole without text and for text without a hole: both are slips of ours.
    """
    template = Template(path.read_text("utf-8"))
    named = set(template.get_identifiers())
    if not template.is_valid() or named != set(holes):
        missing, surplus = sorted(named - set(holes)), sorted(set(holes) - named)
        raise ValueError(f"prompt {path.name}: holes without text {missing}, text without a hole {surplus}")
    return template.substitute(holes).strip()


def fence(text: str) -> str:
    """The text between two lines of tildes, longer than any run of them inside: data that cannot end its fence."""
    longest = max((len(run) for run in re.findall("~+", text)), default=0)
    bar = "~" * max(3, longest + 1)
    return f"{bar}\n{text}\n{bar}"
