"""Names as found → identifiers that DuckDB accepts side by side."""

from __future__ import annotations

from collections.abc import Iterable

from tasks.core.files.text import whole


def quote(identifier: str) -> str:
    """The identifier in double quotes, whatever it contains."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The text as a SQL string."""
    return "'" + text.replace("'", "''") + "'"


def unique_names(names: Iterable[str], prefixes: Iterable[str] = ()) -> tuple[str, ...]:
    """Names that differ even when case is ignored, in the given order.

    The first of a clash keeps its name. A later one gets its own prefix (`b` from source `sales` → `sales_b`) when
    it has one, and a number at the end (`b_2`) where that is not enough. An empty name becomes `unnamed`. For NUL and
    for half a surrogate pair, which no statement can hold, stands U+FFFD.
    """
    wanted = [whole(name).replace("\0", "\ufffd") or "unnamed" for name in names]
    before = [*prefixes]
    before += [""] * (len(wanted) - len(before))
    reserved = {_key(name) for name in wanted}
    taken: set[str] = set()
    result: list[str] = []
    for name, prefix in zip(wanted, before, strict=True):
        chosen = name if _key(name) not in taken else _rename(name, prefix, taken | reserved)
        taken.add(_key(chosen))
        result.append(chosen)
    return tuple(result)


def _rename(name: str, prefix: str, used: set[str]) -> str:
    stem = f"{prefix}_{name}" if prefix else name
    chosen, number = stem, 1
    while _key(chosen) in used:
        number += 1
        chosen = f"{stem}_{number}"
    return chosen


def _key(name: str) -> str:
    """Both foldings: DuckDB lowers ASCII only in some places and all letters in others."""
    return name.lower().casefold()
