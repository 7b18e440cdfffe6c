"""assignment → the tables that were folded, each with its votes and its reason, and what to doubt of that."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tasks.core.models.answer import Assignment
from tasks.core.models.evidence import FoldedTable, UsedTable

_UNJUDGED = "not judged: the prompts could not hold it, and little spoke for it"
_NO_ROOM = "relevant, but the first prompt had no room for it"


def tables(given: Assignment, used: Collection[UsedTable]) -> Iterator[FoldedTable]:
    """Folded tables in the catalogue's order; none where nothing was judged."""
    judged = given.relevance
    if judged is None or judged.off:
        return
    read = {table.name for table in used}
    folded, skipped, beyond = set(given.brief.folded), set(judged.skipped_tables), set(judged.not_judged)
    for table in given.catalogue.tables:
        if table.name in folded:
            reason = judged.reasons.get(table.name, "") if table.name in skipped else ""
            other = "no reason was given" if table.name in skipped else _UNJUDGED if table.name in beyond else _NO_ROOM
            yield FoldedTable(
                name=table.name,
                origin=table.origin,
                tally=judged.vote_tally.get(table.name, ""),
                reason=reason or other,
                used=table.name in read,
            )


def doubts(given: Assignment) -> Iterator[str]:
    """What went wrong with the choice of tables; the answer does not rest on it, but the solver saw less or more."""
    yield from given.unsearched
    judged = given.relevance
    if judged is None or judged.off:
        return
    if judged.error:
        yield f"which tables are needed could not be judged, so all of them count as relevant: {judged.error}"
    if judged.skipped_describe_keys:
        yield f"tables that were judged by name alone or without rows: {', '.join(judged.skipped_describe_keys)}"
