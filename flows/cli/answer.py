"""`tablewright answer`: a question over a folder → answer table, its sources and its price."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.app import app, as_called, err, lost, note, out, print_json, spent, table
from tasks.core.wording import counted

if TYPE_CHECKING:
    from flows.running.request import AnswerRequest
    from flows.running.session import Ended
    from tasks.core.models.evidence import Evidence
    from tasks.core.settings import Settings

_ROWS = 20
"""Answer rows on the terminal; all of them are in the file."""
_FILES = 4
"""Files that could not be read, named on the terminal; the report has all."""
_COLUMN_CHARS = 8
"""Least room of a column on the terminal; with less, values would be folded to nothing."""


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no day: write it as YYYY-MM-DD, for example 2024-12-31") from error


@app.command("answer", context_settings={"allow_extra_args": True})
def command(
    context: typer.Context,
    folder: Annotated[
        str, typer.Argument(help="Folder with the tables, or a task folder (task.json + context/); none with --from.")
    ] = "",
    question: Annotated[str, typer.Argument(help="In any language; without it, that of task.json.")] = "",
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    out_folder: Annotated[str, typer.Option("--out", help="Folder for the files; without it, one in the store.")] = "",
    as_of: Annotated[
        date | None,
        typer.Option(parser=_day, metavar="YYYY-MM-DD", help="The day that 'today' means; without it, today."),
    ] = None,
    style: Annotated[str, typer.Option(help="tools, json or single; without it, the profile's.")] = "profile",
    base: Annotated[
        str, typer.Option("--from", metavar="RUN", help="Ask over the folder as that run found it, in place of FOLDER.")
    ] = "",
    workbook: Annotated[bool, typer.Option("--xlsx", help="Write answer.xlsx too.")] = False,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Send nothing; say what would be sent, and its price.")
    ] = False,
    no_prefect: Annotated[bool, typer.Option("--no-prefect", help="Plain calls, even when a server answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Answer a question over a folder; write answer.csv, evidence.json and report.html."""
    from flows.cli import outlook
    from flows.running.request import make, question_of
    from tasks.core.settings import load

    _check_quoted(folder, question, context.args)
    if base:
        folder, question, base, profile = _of_run(base, folder, question, profile)
    elif not folder:
        raise typer.BadParameter('FOLDER is missing: tablewright answer FOLDER "question", or --from RUN "question"')
    asked = {"folder": folder, "question": question, "base": base, "as_of": as_of}
    request = make(**asked, profile=profile, out=out_folder, style=style, workbook=workbook)
    settings = load(profile)
    question_of(request, date.today())
    if dry:
        outlook.show(request, as_json)
        return
    run(request, settings, no_prefect, as_json)


def run(request: AnswerRequest, settings: Settings, no_prefect: bool, as_json: bool) -> None:
    """Run the request to its end, print what came of it, and end with its exit code."""
    from flows.cli import interrupt, progress
    from flows.running import launch
    from flows.running.rows import exit_code

    link = launch.choose(settings, no_prefect, note, lost)
    with progress.shown():
        ended = interrupt.follow(launch.launch(request, link), as_json)
    url = f"{settings.prefect.api_url.removesuffix('/api')}/runs/flow-run/{ended.prefect}" if ended.prefect else ""
    if as_json:
        warnings = [*ended.warnings, *([link.warning] if link and link.warning else [])]
        print_json({**summary(ended), "warnings": warnings, "prefect": url})
    else:
        _print(ended, url)
    raise typer.Exit(exit_code(ended.answer.status, evidence_of(ended).solving.ended))


def _of_run(base: str, question: str, more: str, profile: str) -> tuple[str, str, str, str]:
    """Folder, question, id and profile of a question over the folder of an earlier run."""
    import asyncio

    from flows.runs import place_of
    from tasks.core.errors import InputError

    if more:
        raise InputError("with --from no folder is named", f'tablewright answer --from {base} "question"')
    found = asyncio.run(place_of(base, profile))
    return found["folder"], question, found["base"], found["profile"]


def _check_quoted(folder: str, question: str, more: list[str]) -> None:
    """Raise InputError where the words of a question came as arguments of their own."""
    from tasks.core.errors import InputError

    if more:
        said = " ".join((question, *more))
        raise InputError(
            f"the question came as {1 + len(more)} arguments",
            f'put the question in quotes: tablewright answer {folder} "{said}"',
        )


def summary(ended: Ended) -> dict[str, Any]:
    """An ended run as JSON data; `rows` are the first of them, all are in the file."""
    from pathlib import Path

    table = ended.answer.table
    return {
        **ended.answer.summary(),
        "preview": [list(row) for row in table.rows[:_ROWS]] if table else [],
        "doubts": list(evidence_of(ended).doubts),
        "sources": [place for place, _ in sources(ended)],
        "files": [str(Path(ended.out) / name) for name in ended.files],
        "warnings": list(ended.warnings),
        "run": ended.run,
        "seconds": ended.seconds,
        "spend": ended.spend.total().model_dump(exclude={"stage"}),
    }


def evidence_of(ended: Ended) -> Evidence:
    """The evidence that the run wrote."""
    from pathlib import Path

    from tasks.core.models.evidence import Evidence

    return Evidence.model_validate_json((Path(ended.out) / "evidence.json").read_bytes())


def sources(ended: Ended) -> list[tuple[str, int]]:
    """The tables that the answer was read from, as file (`::table` inside it), and their rows."""
    used = evidence_of(ended).used
    return [(f"{table.path}::{table.inner}" if table.inner else table.path, table.rows) for table in used]


def remarks(evidence: Evidence) -> list[str]:
    """Doubts that the reason does not name already; files that could not be read on one line."""
    unread = [source for source in evidence.sources if source.outcome == "unreadable"]
    single = {f"{file.path} could not be read: {file.reason}" for file in unread}
    found = [doubt for doubt in evidence.doubts if doubt not in single and not _is_told(doubt, evidence.reason)]
    if not unread:
        return found
    if len(unread) == 1:
        return [*found, *single]
    names = ", ".join(file.path for file in unread[:_FILES]) + ", …" * (len(unread) > _FILES)
    return [*found, f"{len(unread)} files could not be read: {names}; see report.html"]


def _is_told(doubt: str, reason: str) -> bool:
    """Whether the reason says it, or what follows on the name of the stage that it befell."""
    _, _, cause = doubt.partition(": ")
    return doubt in reason or (bool(cause) and cause in reason)


def _print(ended: Ended, url: str) -> None:
    from pathlib import Path

    from rich.markup import escape

    from tasks.core.evidence.checks import emptiness

    answer, evidence = ended.answer, evidence_of(ended)
    empty = emptiness(evidence.checks)
    out.print(f"[bold]{escape(evidence.question.text)}[/]")
    if answer.table:
        width, fitting = len(answer.table.columns), out.width // _COLUMN_CHARS
        shown = table(*answer.table.columns[:fitting])
        for row in answer.table.rows[:_ROWS]:
            shown.add_row(*("" if cell is None else escape(str(cell)) for cell in row[:fitting]))
        out.print(shown)
        if width > fitting:
            out.print(f"{width} columns in all, {fitting} shown")
        if answer.table.row_count > _ROWS:
            out.print(f"{answer.table.row_count} rows in all, {_ROWS} shown")
    if empty:
        out.print(f"[bold]{escape(empty)}[/]")
    out.print(f"[bold]{answer.status}[/]: {escape(as_called(answer.reason))}")
    for remark in (said for said in remarks(evidence) if said != empty):
        out.print(f"- {escape(as_called(remark))}")
    for place, rows in sources(ended):
        out.print(f"from {escape(place)} ({counted(rows, 'row')})")
    out.print(f"{ended.seconds:.1f} s; {spent(ended.spend.total(), kept=answer.table is not None)}")
    for name in ended.files:
        out.print(escape(str(Path(ended.out) / name)))
    for warning in ended.warnings:
        err.print(f"[yellow]warning:[/] {escape(as_called(warning))}")
    if url:
        out.print(url)
