"""`tablewright inspect`: what a folder holds, as a question would find it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.markup import escape

from flows.cli.app import app, out, print_json, table
from tasks.core.wording import counted

if TYPE_CHECKING:
    from flows.inspect import Findings
    from tasks.core.models.catalogue import ColumnProfile

_FEW = 8
"""Rows below which a column without repetition is hardly a key: in so few most are."""
_WIDE = 140
"""Width of a terminal from which on a column's values have columns of their own."""
_LEAST, _BETWEEN = 16, 3
"""Room of a column that may be folded, and between two."""
_SHOWN = 12
"""Columns of a sample that are printed."""


@app.command("inspect")
def command(
    folder: Annotated[str, typer.Argument(help="Folder with the tables, or a task folder.")],
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write one self-contained page to this file; without it, text to the terminal."),
    ] = None,
) -> None:
    """Show what is found in a folder: every file, tables, columns, joins, problems. No model is asked."""
    import asyncio

    from flows.cli import progress
    from flows.inspect import inspect
    from tasks.core.settings import load

    with progress.shown():
        found = asyncio.run(inspect(folder, load(profile)))
    if html:
        _write(found, folder, html)
    if as_json:
        remarks = [remark.model_dump(mode="json") for remark in found.remarks]
        problems = [remark for remark in remarks if remark["is_problem"]]
        notes = [remark for remark in remarks if not remark["is_problem"]]
        print_json({**found.model_dump(mode="json"), "problems": problems, "notes": notes})
    elif html:
        out.print(
            f"{escape(str(html))}: {counted(len(found.catalogue.files), 'file')}, {counted(len(found.problems), 'problem')}"
        )
    else:
        _print(found)


def _write(found: Findings, folder: str, html: Path) -> None:
    from flows.cli.page import render
    from tasks.core.errors import InputError
    from tasks.core.files.paths import expand

    html = expand(html)
    if html.resolve().is_relative_to(expand(folder).resolve()):
        raise InputError(
            f"the page {html} would lie in the folder {folder}, whose files are sources", "write it somewhere else"
        )
    title = expand(folder).resolve().name or folder
    try:
        html.write_text(render(found, title), "utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"the page cannot be written to {html}: {error.strerror}", "give another file") from error


def _print(found: Findings) -> None:
    files = [[file.path, file.kind, f"{file.size:,}", file.outcome, file.reason] for file in found.catalogue.files]
    _grid(["file", "kind", "bytes", "outcome", "why"], files, "Files", whole=4)
    kinds = {table.name: table.role for table in found.metadata.tables}
    for each in found.profile.tables:
        title = (
            f"{each.name}: {counted(each.rows, 'row')} from {each.origin} ({kinds.get(each.name, 'dimension')} table)"
        )
        rows = [_column(column, found.roles.get((each.name, column.name), ""), each.rows) for column in each.columns]
        if out.width >= _WIDE:
            names = ["column", "type", "role", "nulls", "distinct", "range", "examples", "meaning"]
            _grid(names, [[*row[:3], *row[3], row[4]] for row in rows], title)
        else:
            _grid(
                ["column", "type", "role", "values, meaning"],
                [[*row[:3], _told(*row[3], row[4])] for row in rows],
                title,
            )
        _print_sample(found, each.name)
    for join in found.profile.joins:
        left, right = f"{join.left_table}.{join.left_column}", f"{join.right_table}.{join.right_column}"
        unique = "unique" if join.right_unique else "not unique"
        out.print(f"join {escape(left)} = {escape(right)}: {join.match_rate:.1%} of rows match, right side {unique}")
    known = found.knowledge
    counts = {name: len(getattr(known, name)) for name in ("definitions", "metrics", "links", "rules")}
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    out.print(f"knowledge: {f'{escape(known.path)}: {said}' if known.path else 'none'}")
    if found.video.lines:
        out.print(f"video: {counted(len(found.video.lines), 'line')} of text by time")
    _print_described(found)
    for remark in found.remarks:
        place = f"{escape(remark.place)}: {escape(remark.text)}"
        if remark.is_problem:
            out.print(f"[yellow]problem {remark.code}:[/] {place}. {escape(remark.advice)}")
        else:
            out.print(f"note {remark.code}: {place}")
    if not found.problems:
        out.print("no problems")


def _column(column: ColumnProfile, role: str, rows: int) -> tuple[str, str, str, tuple[str, str, str, str], str]:
    """Its name, type and role; null share, distinct values, range and examples; its meaning."""
    name = column.name + (" (key)" if column.is_key and rows >= _FEW else "")
    ends = " … ".join(part for part in (column.minimum, column.maximum) if part)
    values = (f"{column.null_share:.0%}", f"{column.distinct:,}", ends, ", ".join(column.examples[:3]))
    meaning = " ".join(part for part in (column.meaning, column.unit) if part)
    return name, column.type, role.partition(" →")[0], values, meaning


def _told(nulls: str, distinct: str, ends: str, examples: str, meaning: str) -> str:
    """What a narrow terminal shows of a column's values in place of four columns."""
    counts = f"{distinct} distinct" + (f", {nulls} null" if nulls != "0%" else "")
    shown = "; ".join(part for part in (counts, ends, f"as {examples}" if examples else "") if part)
    return f"{shown}\n{meaning}" if meaning else shown


def _grid(names: list[str], rows: list[list[str]], title: str, whole: int = 3) -> None:
    """Print a table; words of its first `whole` columns are not broken, as long as the others have room beside them."""
    made = table(*names, title=title)
    lines = [(name, *(row[at] for row in rows)) for at, name in enumerate(names)]
    widths = [max(map(cell_len, column)) for column in lines[:whole]]
    words = [max((cell_len(word) for text in column for word in text.split()), default=0) for column in lines[whole:]]
    if sum((*widths, *(min(word, _LEAST) for word in words), _BETWEEN * len(names))) <= out.width:
        for column, width in zip(made.columns, widths, strict=False):
            column.width = width
    for row in rows:
        made.add_row(*map(escape, row))
    out.print(made)


def _print_described(found: Findings) -> None:
    for metric in found.metadata.metrics:
        out.print(
            f"metric {escape(metric.name)} = {escape(metric.formula or metric.description)}: {escape(', '.join(metric.columns))}"
        )
    for problem in found.metadata.problems:
        out.print(f"[yellow]description:[/] {escape(problem)}")


def _print_sample(found: Findings, name: str) -> None:
    sample = next((each for each in found.samples if each.table == name), None)
    if not sample or not sample.rows:
        return
    cells = [["–" if cell is None else str(cell)[:60] for cell in row] for row in sample.rows[:3]]
    shown, room = 0, out.width
    for name, *column in zip(sample.columns, *cells, strict=True):
        room -= max(cell_len(name), min(max(map(cell_len, column)), _LEAST)) + _BETWEEN
        if shown == _SHOWN or (room < 0 and shown):
            break
        shown += 1
    _grid(list(sample.columns[:shown]), [row[:shown] for row in cells], "", whole=shown)
    if shown < len(sample.columns):
        out.print(f"{len(sample.columns)} columns in all, {shown} shown")
