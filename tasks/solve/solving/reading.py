"""The tools that look without querying: the list of tables, the description of some, lines of documents."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from tasks.core.files import store as stores
from tasks.core.models.catalogue import TableProfile
from tasks.core.search.words import words
from tasks.solve.showing.layout import Detail, join_line, one_line, spelled, table_lines
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation, of_lines
from tasks.solve.solving.searching import Searching

_RICH = Detail(examples=8, example_chars=80)
_NEAR = 5
"""Similar names offered for an unknown one."""
_REASONS, _REASON_CHARS = 2, 100
"""By what a table was found."""


def list_tables(bench: Bench, search: str) -> Observation:
    """Tables with rows, columns and origin; with `search` those that it means, the likeliest first, and by what they were found.

    Where it means none and all fit, they are shown: the next call would ask for them.
    """
    tables = bench.assignment.profile.tables
    found = _search(bench, search) if search else {table.name: [] for table in tables}
    by_name = {table.name: table for table in tables}
    lines = [_table_line(by_name[name], why) for name, why in found.items()]
    if not found:
        every = of_lines([_table_line(table) for table in tables], bench.chars, "{left}")
        if tables and not every.truncated:
            return Observation(f"No table matches. All {len(tables)} tables:\n{every.text}")
        return Observation(f"No table matches. There are {len(tables)} in all; list_tables without search names them.")
    seen = of_lines(lines, bench.chars, "{left} more; narrow the list with search")
    return Observation(f"{len(found)} of {len(tables)} tables:\n{seen.text}", truncated=seen.truncated)


def _search(bench: Bench, search: str) -> dict[str, list[str]]:
    given = bench.assignment
    if bench.tables is None or bench.tables.of is not given.profile.tables:
        index = stores.current().local(given.index.file) if given.index else None
        bench.tables = Searching(given.profile.tables, given.metrics, index)
    return bench.tables.best_first(search)


def _table_line(table: TableProfile, why: Sequence[str] = ()) -> str:
    found = "".join(f"; {one_line(reason, _REASON_CHARS)}" for reason in why[:_REASONS])
    return f"{spelled(table.name)}: {table.rows} rows, {len(table.columns)} columns, {table.origin}{found}"


def describe(bench: Bench, names: list[str], search: str) -> Observation:
    """All columns of the tables, or those that match `search`, with values, and the measured joins of each."""
    lines: list[str] = []
    unknown: list[str] = []
    for name in names:
        table = bench.assignment.profile.table(name.strip().strip('"'))
        if table is None:
            unknown.append(f"No table {name!r}. {_nearest(bench, name)}")
            continue
        kept = {c.name for c in table.columns if _shares(search, f"{c.name} {c.meaning}")} if search else None
        lines += table_lines(table, _RICH, kept)
        joins = [j for j in bench.assignment.profile.joins if table.name in (j.left_table, j.right_table)]
        lines += [f"join: {join_line(join)}" for join in joins] + [""]
    if not lines:
        return Observation("\n".join(unknown), ok=False)
    seen = of_lines(lines[:-1], bench.chars, "{left} more lines; ask for fewer tables, or give search")
    return Observation("\n".join([*unknown, seen.text]), ok=not unknown, truncated=seen.truncated)


def documents(bench: Bench) -> dict[str, int]:
    """Paths of the texts that can be read, with their number of lines."""
    knowledge = bench.assignment.knowledge
    found = {document.path: document.lines for document in bench.assignment.catalogue.documents}
    return {knowledge.path: len(knowledge.text.splitlines()), **found} if knowledge.text else found


def remarks(bench: Bench) -> dict[str, str]:
    """What is to be said about some of them, by path: its table, or why there is none."""
    return {document.path: document.note for document in bench.assignment.catalogue.documents if document.note}


def named(paths: Iterable[str], wanted: str) -> list[str]:
    """Those of the paths that are meant: the one of that path, else those of that file name, whatever the case."""
    known, folded = [*paths], wanted.strip().casefold()
    found = [path for path in known if path.casefold() == folded]
    return found or [path for path in known if path.casefold().rpartition("/")[2] == folded.rpartition("/")[2]]


def read_document(bench: Bench, path: str, first_line: int, lines: int) -> Observation:
    """Numbered lines of a document or of the knowledge."""
    known = documents(bench)
    matches = named(known, path)
    if len(matches) != 1:
        return Observation(
            f"{'No' if not matches else 'More than one'} document {path!r}. There are: {', '.join(known)}", ok=False
        )
    text = _text(bench, matches[0]).splitlines()
    if first_line > len(text):
        return Observation(f"{matches[0]} has {len(text)} lines.", ok=False)
    last = min(first_line + lines - 1, len(text))
    numbered = [f"{number}: {text[number - 1]}" for number in range(first_line, last + 1)]
    seen = of_lines(numbered, bench.chars, "{left} of these lines left out; ask from a later first_line")
    return Observation(
        f"{matches[0]}, lines {first_line} to {last} of {len(text)}:\n{seen.text}", truncated=seen.truncated
    )


def _text(bench: Bench, path: str) -> str:
    for document in bench.assignment.catalogue.documents:
        if document.path == path:
            return stores.current().get(document.text).decode("utf-8")
    return bench.assignment.knowledge.text


def _shares(search: str, text: str) -> bool:
    return search.strip().casefold() in text.casefold() or bool(words(search) & words(text))


def _nearest(bench: Bench, name: str) -> str:
    names = [table.name for table in bench.assignment.profile.tables]
    near = difflib.get_close_matches(name, names, n=_NEAR, cutoff=0.5)
    return f"Did you mean {', '.join(map(spelled, near))}?" if near else "See list_tables."
