"""Inventory → Overrides: what metadata.yaml says of tables, columns, metrics and live databases; all its errors at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tasks.core.errors import InputError
from tasks.core.files.text import read_text
from tasks.core.models.metadata import ColumnNote, DatabaseNote, MetricInfo, Overrides, TableNote
from tasks.core.models.source import Inventory, SourceFile
from tasks.core.sql.address import written
from tasks.core.wording import counted
from tasks.intake.overriding.schema import ColumnEntry, File, check, is_column
from tasks.intake.overriding.tree import Tree, read_tree
from tasks.stage import stage

_BYTES = 4 << 20
_SHOWN = 40
"""Errors that a message lists."""
_HINT = (
    "mend these lines, or rename the file if it is not meant for tablewright (docs/context.md shows what it may say)"
)


@stage()
async def read_overrides(inventory: Inventory) -> Overrides:
    """Read metadata.yaml in the folder or its context/; empty when there is none. Raises InputError with every error."""
    files = [file for file in inventory.of("knowledge") if file.kind == "metadata"]
    if not files:
        return Overrides()
    if len(files) > 1:
        raise InputError(f"there are two: {' and '.join(file.path for file in files)}", "keep one of them")
    tree = read_tree(_text(Path(inventory.root), files[0]))
    problems, file = list(tree.problems), None
    if not problems or tree.data is not None:
        file, found = check({} if tree.data is None else tree.data)
        problems += [(tree.line(place), said) for place, said in found]
    if file:
        problems += _inconsistent(file, tree)
    if problems or not file:
        raise _error(files[0].path, sorted(set(problems)))
    return _notes(files[0].path, file, tree)


def _text(root: Path, file: SourceFile) -> str:
    if file.size > _BYTES:
        raise InputError(f"{file.path} has more than {_BYTES >> 20} MB", "say less in it")
    try:
        text, _, _ = read_text(root / file.path)
    except OSError as error:
        raise InputError(f"{file.path} cannot be read: {error.strerror}", "give read permission") from error
    return text


def _error(path: str, problems: list[tuple[int, str]]) -> InputError:
    lines = [f"{path}:{line}: {said}" for line, said in problems]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return InputError("\n  ".join([f"{path} has {counted(len(lines), 'error')}", *lines[:_SHOWN], *more]), _HINT)


def _inconsistent(file: File, tree: Tree) -> Iterator[tuple[int, str]]:
    """What each entry alone does not show."""
    for name in file.columns:
        if not is_column(name):
            yield tree.line(("columns", name)), f"{name!r} must be table.column here, or stand below its table"
        else:
            table, _, column = name.partition(".")
            if table in file.tables and column in file.tables[table].columns:
                yield tree.line(("columns", name)), f"{name!r} is described below its table too: keep one of them"
    for name, entry in file.databases.items():
        place = ("databases", name)
        if bool(entry.url) == bool(entry.url_env):
            yield tree.line(place), f"database {name!r} needs one of url_env and url"
        elif entry.url and (problem := written(entry.url)):
            yield tree.line((*place, "url")), problem


def _notes(path: str, file: File, tree: Tree) -> Overrides:
    tables = tuple(
        TableNote(
            name=name,
            role=entry.role,
            description=entry.description,
            aliases=entry.aliases,
            line=tree.line(("tables", name)),
        )
        for name, entry in file.tables.items()
    )
    metrics = tuple(
        MetricInfo(
            id=f"metric:{name}", name=name, line=tree.line(("metrics", name)), basis="metadata", **entry.model_dump()
        )
        for name, entry in file.metrics.items()
    )
    databases = tuple(
        DatabaseNote(name=name, line=tree.line(("databases", name)), **entry.model_dump())
        for name, entry in file.databases.items()
    )
    return Overrides(
        path=path, tables=tables, columns=tuple(_columns(file, tree)), metrics=metrics, databases=databases
    )


def _columns(file: File, tree: Tree) -> Iterator[ColumnNote]:
    def note(table: str, name: str, entry: ColumnEntry, line: int) -> ColumnNote:
        return ColumnNote(table=table, name=name, line=line, **entry.model_dump())

    for table, of_table in file.tables.items():
        for name, entry in of_table.columns.items():
            yield note(table, name, entry, tree.line(("tables", table, "columns", name)))
    for both, entry in file.columns.items():
        table, _, name = both.partition(".")
        yield note(table, name, entry, tree.line(("columns", both)))
