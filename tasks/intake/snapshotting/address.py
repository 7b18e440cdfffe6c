"""URL of a database → its parts; they lie in `core`, because stores have such URLs too."""

from __future__ import annotations

from tasks.core.sql.address import Address, Kind, parse, written

__all__ = ["Address", "Kind", "parse", "written"]
