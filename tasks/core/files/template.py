"""A folder's template → self-contained HTML: everything escaped, and what would act on the reader shown as a mark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of text, which make one text look like another."""


def environment(folder: Path) -> jinja2.Environment:
    """Templates of the folder; a name that a template does not get is an error."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: _CONTROL.sub("�", value) if type(value) is str else value,
    )
