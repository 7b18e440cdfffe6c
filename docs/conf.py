"""docs/*.md and pages made from the code → the documentation as web pages: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

project = "tablewright"
author = "the authors of tablewright"
project_copyright = author
extensions = ["myst_parser"]
exclude_patterns = ["_build", "pages"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "tablewright"
html_show_sourcelink = False
html_copy_source = False
smartquotes = False
highlight_language = "text"
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]
"""Blocks of commands hold `…` where the reader puts something of their own: they need not parse."""

_ELSEWHERE = {
    "../data/README.md": "generated/folder.md",
    "../CONTRIBUTING.md": "generated/contributing.md",
    "../CHANGELOG.md": "generated/changes.md",
}
"""Files outside of this folder that have a page here."""


def _lead_here(_app: Any, _name: str, source: list[str]) -> None:
    source[0] = re.sub(r"\]\(([^)#]+)", lambda found: f"]({_ELSEWHERE.get(found[1], found[1])}", source[0])


def setup(app: Any) -> None:
    """Make the reference from the code before anything is read."""
    from docs.pages import write

    write(HERE / "generated")
    app.connect("source-read", _lead_here)
