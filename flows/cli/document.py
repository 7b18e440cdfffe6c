"""`tablewright document` and `tablewright trace`: tables drawn from documents, and where a cell of one comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.markup import escape

from flows.cli.app import app, err, out, print_json, spent, table
from tasks.core.wording import counted

if TYPE_CHECKING:
    from flows.document import Drawn
    from flows.running.request import DocumentRequest
    from tasks.core.models.document import Converted, Derivation
    from tasks.document.storing.trace import Trace

_STATES = {
    "as_is": "plain text, read as it is",
    "partial": "converted in part",
    "image_only": "pictures without text",
}
"""What became of a file's text, in plain words; the other names say it themselves."""
_STATUSES = {
    "verified": "verified",
    "derived": "derived",
    "unverified": "unverified",
    "conflict": "conflict",
    "missing": "no value named",
    "unread": "not read",
}
"""Counts of a column's cells, and what they are called."""


@app.command("document")
def command(
    folder: Annotated[str, typer.Argument(help="Folder with the documents, or a task folder.")],
    question: Annotated[
        str, typer.Option(help="Draw only from documents that matter for it; without it, from all.")
    ] = "",
    only: Annotated[
        list[str] | None, typer.Option(help="A document by name or path; may be repeated; without it, all.")
    ] = None,
    out_folder: Annotated[str, typer.Option("--out", help="Folder for derived/; without it, one in the store.")] = "",
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Draw tables from documents; write derived/NAME.sqlite, every cell with its quote, line and status."""
    from flows.running.request import DocumentRequest

    request = DocumentRequest(folder=folder, question=question, only=tuple(only or ()), out=out_folder, profile=profile)
    run(request, as_json)


def run(request: DocumentRequest, as_json: bool) -> NoReturn:
    """Run the request to its end, print what came of it, and end with its exit code."""
    from flows.cli import interrupt, progress
    from flows.document import document

    with progress.shown():
        drawn = interrupt.follow(document(request), as_json)
    if as_json:
        print_json(summary(drawn))
    else:
        _print(drawn)
    raise typer.Exit(exit_code(drawn))


def exit_code(drawn: Drawn) -> int:
    """3 or 4 when model or budget ended some of the work; 5 when there are documents and none gave a table."""
    if drawn.stopped:
        return 3 if drawn.stopped == "model" else 4
    return 5 if drawn.outcome[0] == "failed" else 0


def summary(drawn: Drawn) -> dict[str, Any]:
    """The run as JSON data."""
    return {
        "problems": drawn.derivation.problems,
        "stopped": drawn.derivation.stopped,
        "left_out": dict(drawn.derivation.left_out),
        "others": dict(drawn.others),
        "documents": [_about(drawn.derivation, document) for document in drawn.derivation.documents],
        "files": [str(Path(drawn.out) / name) for name in drawn.files],
        "run": drawn.run,
        "seconds": drawn.seconds,
        "spend": {stage.stage: stage.model_dump(exclude={"stage"}) for stage in drawn.spend.stages},
    }


def _about(derivation: Derivation, document: Converted) -> dict[str, Any]:
    """What became of one document."""
    drawn = next((each for each in derivation.tables if each.stem == document.stem), None)
    return {
        "document": document.stem,
        "paths": list(document.paths),
        "status": document.status,
        "reason": dict(derivation.outcomes).get(document.stem, ""),
        "table": drawn.table if drawn else None,
        "key": drawn.key if drawn else None,
        "records": drawn.records if drawn else 0,
        "asked": drawn.asked if drawn else 0,
        "filled": drawn.filled if drawn else 0,
        "perfect": drawn.perfect if drawn else None,
        "columns": [column.model_dump(mode="json") for column in drawn.columns] if drawn else [],
        "notes": [*document.notes, *(drawn.notes if drawn else ())],
        "stages": {
            use.stage.removeprefix(f"{document.stem}/"): {
                "calls": use.calls,
                "tokens_in": use.tokens_in,
                "tokens_out": use.tokens_out,
            }
            for use in derivation.spent
            if use.stage.startswith(f"{document.stem}/")
        },
    }


def _print(drawn: Drawn) -> None:
    for problem in drawn.derivation.problems:
        out.print(escape(problem))
    for path, why in drawn.derivation.left_out:
        out.print(f"[bold]{escape(path)}[/]: {escape(why)}")
    if not drawn.derivation.documents and not drawn.derivation.problems and not drawn.derivation.left_out:
        out.print("no documents")
    for document in drawn.derivation.documents:
        about = _about(drawn.derivation, document)
        said = _STATES.get(about["status"], about["status"])
        out.print(f"[bold]{escape(', '.join(about['paths']))}[/]: {said}")
        for line in about["reason"].splitlines():
            out.print(f"  {escape(line)}")
        if about["table"]:
            quality = "perfect" if about["perfect"] else "imperfect"
            filled = f"{about['filled']} of {about['asked']} cells have a value"
            title = f"{about['table']}: {counted(about['records'], 'record')} by {about['key']}, {filled}, {quality}"
            shown = table("column", "type", "unit", *_STATUSES.values(), title=title)
            for column in about["columns"]:
                kept = "" if column["stored"] else " (cells only)"
                counts = [f"{column[status]:,}" for status in _STATUSES]
                shown.add_row(escape(column["name"]) + kept, column["type"], escape(column["unit"]), *counts)
            out.print(shown)
        for note in about["notes"]:
            out.print(f"  note: {escape(note)}")
        for stage, use in about["stages"].items():
            out.print(f"  {stage}: {counted(use['calls'], 'call')}, {use['tokens_in']} + {use['tokens_out']} tokens")
    for path, what in drawn.others:
        out.print(f"[dim]{escape(path)}: {escape(what)}[/]")
    for why in drawn.derivation.stopped:
        err.print(f"[bold red]ended before all was done:[/] {escape(why)}")
    out.print(f"{drawn.seconds:.1f} s; {spent(drawn.spend.total(), kept=bool(drawn.derivation.tables))}")
    for name in drawn.files:
        out.print(escape(str(Path(drawn.out) / name)))


@app.command("trace")
def trace_command(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="A table drawn from a document.")],
    record: Annotated[str, typer.Argument(help="Value of its key.")],
    column: Annotated[str, typer.Argument(help="Column.")],
    place: Annotated[
        Path | None,
        typer.Option("--out", "--folder", help="Output folder of a run, or a .sqlite; without it, the newest run."),
    ] = None,
    profile: Annotated[str, typer.Option(help="The profile whose store is looked through.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Show where a cell comes from: value, raw text, quote, file, line, page, status, and what it replaced."""
    from tasks.core.settings import load
    from tasks.document.storing.trace import trace

    found = trace(find(name, place, load(profile).store.folder), record, column)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        for line in _lines(found):
            out.print(escape(line))


def find(name: str, place: Path | None, store: Path) -> Path:
    """The database of a derived table. Raises InputError when there is none, naming those that are there."""
    from tasks.core.errors import InputError
    from tasks.core.files.paths import file_name
    from tasks.core.models.document import DERIVED

    if place and place.is_file():
        return place
    if place and not place.is_dir():
        raise InputError(f"there is no folder {str(place)!r}", "give the output folder of a run with --out")
    folders = [place / DERIVED, place] if place else _newest(store)
    seen: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.sqlite")):
            seen.setdefault(path.stem.casefold(), path)
    wanted = name.casefold().removesuffix(".sqlite")
    bare = wanted.removeprefix("document_").removeprefix("table_")
    for way in (wanted, bare, *(file_name(each, "").casefold() for each in (name, bare))):
        if way in seen:
            return seen[way]
    where = place or store
    hint = (
        f"there are: {', '.join(path.stem for path in seen.values())}" if seen else "give the run's folder with --out"
    )
    if origin := _origin(name, folders):
        said = f"{name!r} is a source table (file {origin}): trace shows only tables drawn from documents"
        raise InputError(said, hint if seen else f"look into {origin}; no table was drawn from a document here")
    raise InputError(f"no table {name!r} drawn from a document in {where}", hint)


def _origin(name: str, folders: list[Path]) -> str:
    """The source file whose table has that name, by the evidence of a run; empty when none says so."""
    from pydantic import ValidationError

    from tasks.core.models.evidence import Evidence

    for folder in dict.fromkeys((*folders, *(folder.parent for folder in folders))):
        try:
            sources = Evidence.model_validate_json((folder / "evidence.json").read_bytes()).sources
        except (OSError, ValidationError):
            continue
        for source in sources:
            names = (Path(source.path).stem.casefold(), *map(str.casefold, source.tables))
            if source.outcome == "table" and name.casefold() in names:
                return source.path
    return ""


def _newest(store: Path) -> list[Path]:
    """Folders of runs in the store, the newest first."""
    from tasks.core.models.document import DERIVED

    found = [*store.glob(f"answers/*/{DERIVED}"), *store.glob(f"tables/*/{DERIVED}")]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _lines(found: Trace) -> Iterator[str]:
    value = "NULL" if found.value is None else str(found.value)
    unit = f" [{found.unit}]" if found.unit else ""
    yield f"{found.table}.{found.column} of {found.record}: {value}{unit}  ({found.status})"
    for label, text in (("raw", found.raw), ("quote", found.quote), ("note", found.note)):
        if text:
            yield f"  {label:<7}{text}"
    if found.path:
        page = f", page {found.page}" if found.page else ""
        yield f"  from   {found.path}, line {found.file_line}{page}"
    for said in found.statements:
        if said.relation != "holds":
            page = f", page {said.page}" if said.page else ""
            yield f"  {said.relation}: {said.raw} in {said.quote!r} ({said.path}, line {said.file_line}{page})"
    if found.program:
        yield "  read by a program that the model wrote and code checked; --json shows it"
