"""SQL of a text → SQL of the same with full-width letters, digits, signs and blanks in their usual width."""

from __future__ import annotations

from tasks.core.sql.names import literal

_WIDE = "".join(map(chr, range(0xFF01, 0xFF5F))) + "\u3000\u00a0"
_NARROW = "".join(map(chr, range(0x21, 0x7F))) + "  "


def narrow(text: str) -> str:
    """The expression around an expression that gives a text; a blank that does not break counts as one."""
    return f"translate({text}, {literal(_WIDE)}, {literal(_NARROW)})"
