"""path of a document without a table → its table, once the flow has drawn it; until then the end of the attempt.

A stage takes values only, so it cannot draw a table itself. It ends with the wish, and the flow begins it again with what
came of it: the journal answers every turn up to there.
"""

from __future__ import annotations

from dataclasses import replace

from tasks.solve.showing.layout import one_line, spelled
from tasks.solve.solving import reading
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation

_REASON_CHARS = 300


class Wanted(Exception):
    """The attempt waits for the table of the document at `path`."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def drawable(bench: Bench) -> tuple[str, ...]:
    """Paths of documents that were judged not to matter and that a table can be drawn from."""
    return tuple(document.path for document in bench.given.catalogue.documents if document.drawable)


async def extract_document(bench: Bench, path: str) -> Observation:
    """The new table with its columns and joins, or why there is none. Raises Wanted when nobody has drawn it yet."""
    known = drawable(bench)
    matches = reading.named(known, path)
    if len(matches) != 1:
        told = "More than one" if matches else "No"
        return Observation(f"{told} document {path!r} that a table can be drawn from: {', '.join(known)}", ok=False)
    addition = next((each for each in bench.given.added if each.path == matches[0]), None)
    if addition is None:
        raise Wanted(matches[0])
    await bench.meet(addition)
    if not addition.table:
        return Observation(f"{matches[0]}: {one_line(addition.reason, _REASON_CHARS)}", ok=False)
    shown = reading.describe(bench, [addition.table], "")
    return replace(shown, text=f"{matches[0]} is now the table {spelled(addition.table)}:\n{shown.text}")
