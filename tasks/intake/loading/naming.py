"""Names in the sources → canonical table names: as in the source, with a prefix by source for all that clash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from tasks.core.sql.names import unique_names


class Named(NamedTuple):
    """A table as its source calls it."""

    name: str
    path: str
    kind: str


def canonical(tables: Sequence[Named]) -> tuple[str, ...]:
    """One name a table, all different when case is ignored; the same for the same folder, whatever the order of files.

    Of tables that clash each gets a prefix: `csv__t`, `json__t`, `<database stem>__t`; where these are equal too, the
    parts of the path.
    """
    choices = [_choices(table) for table in tables]
    level = [0] * len(tables)
    for _ in range(max((len(choice) for choice in choices), default=0)):
        names = [choice[at] for choice, at in zip(choices, level, strict=True)]
        counts = Counter(name.casefold() for name in names)
        clashing = [i for i, name in enumerate(names) if counts[name.casefold()] > 1 and level[i] + 1 < len(choices[i])]
        if not clashing:
            break
        for i in clashing:
            level[i] += 1
    return unique_names(choice[at] for choice, at in zip(choices, level, strict=True))


def _choices(table: Named) -> list[str]:
    name = table.name.strip("\0") or "table"
    path = PurePosixPath(table.path)
    steps = list(path.parts[:-1])
    prefixes = [path.stem] if table.kind in ("sqlite", "database") else [table.kind, path.stem]
    prefixes += ["_".join((*steps[-depth:], path.stem)) for depth in range(1, len(steps) + 1)]
    prefixes.append("_".join((*steps, path.name.replace(".", "_"))))
    return [name, *(f"{prefix}__{name}" for prefix in prefixes)]
