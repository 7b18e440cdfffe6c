"""profile → tokens that describing all its tables in full would take."""

from __future__ import annotations

from tasks.core.llm.tokens import count
from tasks.core.models.catalogue import Profile
from tasks.solve.showing.layout import Detail, table_lines


def whole_tokens(profile: Profile, enough: int = 0) -> int:
    """By our estimate; not counted further than `enough`, where that is above 0."""
    total = 0
    for table in profile.tables:
        total += count("\n".join(table_lines(table, Detail()))) + 2
        if 0 < enough <= total:
            break
    return total
