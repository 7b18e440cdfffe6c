"""`tablewright inspect`: what a folder holds, as a question would find it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.app import app, out, print_json, table

if TYPE_CHECKING:
    from flows.inspect import Findings


@app.command("inspect")
def command(
    folder: Annotated[str, typer.Argument(help="Folder with the tables, or a task folder.")],
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Show what is found in a folder: every file, tables, columns, joins, problems. No model is asked."""
    import asyncio

    from flows.cli import progress
    from flows.inspect import inspect
    from tasks.core.settings import load

    with progress.shown():
        found = asyncio.run(inspect(folder, load(profile)))
    if as_json:
        print_json({**found.model_dump(mode="json"), "problems": list(found.problems)})
    else:
        _print(found)


def _print(found: Findings) -> None:
    from rich.markup import escape

    files = table("file", "kind", "bytes", "outcome", "why", title="Files")
    for file in found.catalogue.files:
        files.add_row(escape(file.path), file.kind, f"{file.size:,}", file.outcome, escape(file.reason))
    out.print(files)
    for each in found.profile.tables:
        title = f"{each.name}: {each.rows:,} rows from {each.origin}"
        columns = table("column", "type", "nulls", "distinct", "range", "examples", "meaning", title=title)
        for column in each.columns:
            columns.add_row(
                escape(column.name) + (" (key)" if column.is_key else ""),
                column.type,
                f"{column.null_share:.0%}",
                f"{column.distinct:,}",
                escape(" … ".join(part for part in (column.minimum, column.maximum) if part)),
                escape(", ".join(column.examples[:3])),
                escape(" ".join(part for part in (column.meaning, column.unit) if part)),
            )
        out.print(columns)
    for join in found.profile.joins:
        left, right = f"{join.left_table}.{join.left_column}", f"{join.right_table}.{join.right_column}"
        unique = "unique" if join.right_unique else "not unique"
        out.print(f"join {escape(left)} = {escape(right)}: {join.match_rate:.1%} of rows match, right side {unique}")
    known = found.knowledge
    counts = {name: len(getattr(known, name)) for name in ("definitions", "metrics", "links", "rules")}
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    out.print(f"knowledge: {f'{escape(known.path)}: {said}' if known.path else 'none'}")
    for problem in found.problems:
        out.print(f"[yellow]problem:[/] {escape(problem)}")
    if not found.problems:
        out.print("no problems")
