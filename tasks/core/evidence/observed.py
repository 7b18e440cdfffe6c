"""one tool step → what it is about, what it can support, and how much of its source its result shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pydantic import JsonValue
from sqlglot import exp

from tasks.core.evidence.outline import outline, parse
from tasks.core.models.answer import Step
from tasks.core.models.catalogue import Catalogue
from tasks.core.models.review import Capability, Coverage

ACTS = ("submit", "revise_contract")
"""Tools that look at no source."""
_BY_TOOL: dict[str, tuple[Capability, ...]] = {
    "list_tables": ("source_discovery",),
    "describe": ("table_structure", "field_definition", "candidate_relation"),
    "compute": ("computed_observation",),
    "read_document": ("document_fact",),
    "extract_document": ("document_structure", "table_structure", "source_discovery"),
}
_ROWS = re.compile(r"\((\d+) rows?(?:, the first (\d+) shown)?\)")
_LINES = re.compile(r".*, lines (\d+) to (\d+) of (\d+):")
_NUMBERED = re.compile(r"(\d+): ")
_MORE = re.compile(r"\((\d+) (?:more\b|of these lines left out\b).*\)")
_CUT = "…"
_TAIL_LINES = 3
"""Lines of ours after the rows: their number, what a program printed, advice."""


@dataclass(frozen=True)
class Known:
    """What there is to be about."""

    catalogue: Catalogue
    knowledge: str = ""
    """Path of the knowledge."""
    paths: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        documents = tuple(document.path for document in self.catalogue.documents)
        drawn = tuple(path for table in self.catalogue.tables if table.drawn for path in table.drawn.paths)
        knowledge = (self.knowledge,) if self.knowledge else ()
        object.__setattr__(self, "paths", tuple(dict.fromkeys((*knowledge, *documents, *drawn))))

    def path(self, written: str) -> str:
        """The document or knowledge that is meant, by path or by file name; empty when there is none."""
        wanted = written.strip().casefold()
        same = [path for path in self.paths if path.casefold() == wanted]
        alike = [path for path in self.paths if _file(path) == _file(wanted)]
        return next(iter(same or alike), "")

    def table(self, written: str) -> str:
        """The canonical name of a table, quoted or not; empty when there is none."""
        found = self.catalogue.table(written.strip().strip('"'))
        return found.name if found else ""


@dataclass(frozen=True)
class Shown:
    """A result, taken apart; `body` are rows or lines of the source, the rest is ours."""

    head: tuple[str, ...]
    body: tuple[str, ...]
    tail: tuple[str, ...]
    coverage: Coverage


def about(step: Step, known: Known) -> tuple[str, ...]:
    """Tables or path that a step is about; a name that nothing has stands as it was written."""
    if sql := text_of(step.arguments.get("sql")):
        return tuple(dict.fromkeys(known.table(name) or name for name in outline(sql).tables))
    if path := text_of(step.arguments.get("path")):
        return (known.path(path) or path,)
    names = step.arguments.get("tables")
    written = names.split(",") if isinstance(names, str) else names if isinstance(names, list) else []
    return tuple(dict.fromkeys(known.table(str(name)) or str(name) for name in written))


def capabilities(step: Step, known: Known) -> tuple[Capability, ...]:
    """What the result of a step can support; none for a tool that looks at no source."""
    if step.name == "read_document" and known.knowledge and about(step, known) == (known.knowledge,):
        return ("document_fact", "field_definition")
    if step.name != "query":
        return _BY_TOOL.get(step.name, ())
    sql = text_of(step.arguments.get("sql"))
    tree = parse(sql)
    if tree is not None and any(table.db.casefold() == "metadata" for table in tree.find_all(exp.Table)):
        return ("field_definition",)
    if tree is None or any(tree.find_all(exp.AggFunc, exp.Window, exp.Group)):
        return ("computed_observation",)
    tables = (known.catalogue.table(name) for name in outline(sql).tables)
    return ("extracted_rows",) if any(table and table.drawn for table in tables) else ("source_rows",)


def read(step: Step, own: bool = False) -> Shown | None:
    """What a successful result shows; None where it was cut at a place that nobody knows, so that it proves nothing.

    `own`: it is the submission, whose LIMIT is a part of the answer and no cut through it.
    """
    lines = tuple(step.result.split("\n"))
    if step.name in ("query", "compute"):
        return _rows(step, lines, own)
    if step.name == "read_document" and (found := _LINES.fullmatch(lines[0])):
        return _document(step, lines, int(found[1]), int(found[3]))
    return _listed(step, lines)


def text_of(value: JsonValue) -> str:
    """An argument as text; empty for what is none."""
    return value if isinstance(value, str) else ""


def _rows(step: Step, lines: tuple[str, ...], own: bool) -> Shown | None:
    """Header, rows and the line that counts them. A LIMIT of another query than the submission leaves open how many rows there would be."""
    for at in range(len(lines) - 1, max(len(lines) - 1 - _TAIL_LINES, 0), -1):
        if found := _ROWS.fullmatch(lines[at]):
            break
    else:
        return None if step.truncated else _listed(step, lines)
    total, body = int(found[1]), lines[1:at]
    shown = int(found[2] or total)
    if step.truncated and shown >= total:
        return None
    limit = outline(text_of(step.arguments.get("sql"))).limit
    is_open = not own and limit.isdigit() and total >= int(limit)
    cover = Coverage(unit="rows", shown=shown, total=None if is_open else total, cut=_is_cut(body))
    return Shown(lines[:1], body, lines[at:], cover)


def _document(step: Step, lines: tuple[str, ...], first: int, total: int) -> Shown | None:
    more = _MORE.fullmatch(lines[-1])
    if step.truncated and not more:
        return None
    body = lines[1:-1] if more else lines[1:]
    numbers = [int(found[1]) for line in body if (found := _NUMBERED.match(line))]
    cover = Coverage(
        unit="lines",
        shown=len(numbers),
        total=total,
        first=first if numbers else None,
        last=numbers[-1] if numbers else None,
        cut=_is_cut(body),
    )
    return Shown(lines[:1], body, lines[len(body) + 1 :], cover)


def _listed(step: Step, lines: tuple[str, ...]) -> Shown | None:
    more = next((found for line in lines[-2:] if (found := _MORE.fullmatch(line))), None)
    if step.truncated and not more:
        return None
    body = tuple(line for line in lines if not _MORE.fullmatch(line)) if more else lines
    left = int(more[1]) if more else 0
    unit = Coverage(unit="lines", shown=len(body), total=len(body) + left) if left else Coverage(unit="whole")
    return Shown((), body, lines[len(body) :], unit.model_copy(update={"cut": _is_cut(body)}))


def _is_cut(lines: tuple[str, ...]) -> bool:
    return any(_CUT in line for line in lines)


def _file(path: str) -> str:
    return path.casefold().rpartition("/")[2]


def is_complete(shown: Coverage) -> bool:
    """Whether nothing of the source is missing from what is shown."""
    return not shown.cut and (shown.unit == "whole" or shown.shown == shown.total)
