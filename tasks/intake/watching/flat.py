"""Layout text in any form (text, nested brackets, objects) → plain text, one row of the picture a line."""

from __future__ import annotations

import re
from typing import Any

_NAMES = """
page root body html row col column grid card panel section header footer nav main aside form list li ul ol h1 h2 h3 h4 h5 h6 p div
span label value button tag badge text title table thead tbody tr td th cell input select option tabs tab img icon
"""
_TAGS = frozenset(_NAMES.split())
_ROWS = frozenset(["row", "tr", "p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "title", "header", "footer"])
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_DATA = re.compile(r"\s*data:[\w/+.-]+[;,]|[A-Za-z0-9+/=_-]{300,}")
"""A picture in the text of a JSON, and other blobs."""
_DEPTH = 40
_GIVEN = re.compile(r"text|label|value|content|title|name|children|rows?$|cells?$|items?$|columns?$", re.IGNORECASE)
_PLACE = re.compile(
    r"bbox|box|style|class|colou?r|font|conf|score|width|height|^[xywh]\d?$|type|tag|kind|^id$", re.IGNORECASE
)


def flat(value: Any) -> str:
    """Its words in order; names of elements, places and pictures are left out."""
    return "\n".join(" ".join(row.split()) for row in _rows(value, 0) if row.strip())


def _rows(value: Any, depth: int) -> list[str]:
    """Rows of text; those of one element that holds no rows of its own are joined."""
    if depth > _DEPTH or value is None or isinstance(value, bool):
        return []
    if isinstance(value, str):
        return [] if _DATA.match(value) else _MARKUP.sub(" ", value).split("\n")
    if isinstance(value, int | float):
        return [str(value)]
    if isinstance(value, dict):
        kept = [inner for name, inner in value.items() if _GIVEN.search(name) or not _PLACE.search(name)]
        return _together(kept, False, depth)
    if not isinstance(value, list):
        return []
    tag = value[0].casefold().strip(":") if len(value) > 1 and isinstance(value[0], str) else ""
    return _together(value[1:] if tag in _TAGS else value, tag in _ROWS, depth)


def _together(parts: list[Any], one_row: bool, depth: int) -> list[str]:
    found = [_rows(part, depth + 1) for part in parts]
    flat_rows = [row.strip() for rows in found for row in rows if row.strip()]
    plain = all(not isinstance(part, list | dict) or len(rows) < 2 for part, rows in zip(parts, found, strict=True))
    short = sum(map(len, flat_rows)) <= 200
    return (
        [" | ".join(flat_rows)]
        if flat_rows and (one_row or (plain and short and len(parts) <= 8 and depth))
        else flat_rows
    )
