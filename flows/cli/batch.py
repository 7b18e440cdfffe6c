"""`tablewright batch`: a folder of tasks → a folder of predictions, with `summary.json`; one task's trouble is its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.app import app, as_called, leave, lost, note, out, print_json, table

if TYPE_CHECKING:
    from flows.running.tasks import Batch


@app.command("batch")
def command(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="Folder of task folders.")],
    target: Annotated[Path, typer.Argument(metavar="OUTPUT", help="TASK/prediction.csv … and summary.json go here.")],
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    concurrency: Annotated[
        int, typer.Option(min=0, help="Tasks at once; 0: batch.concurrency, or as cores and endpoints allow.")
    ] = 0,
    deadline: Annotated[float, typer.Option(min=0, help="Seconds for all of them; 0: none.")] = 0,
    gold: Annotated[Path | None, typer.Option(help="Folder with TASK/gold.csv; INPUT/gold where there is one.")] = None,
    no_prefect: Annotated[bool, typer.Option("--no-prefect", help="Plain calls, even when a server answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON in place of text.")] = False,
) -> None:
    """Answer every task of a folder. Exit code 0 when each has an answer that nothing speaks against, else 5."""
    from flows.batch import run_batch
    from flows.cli.progress import Board
    from flows.running import launch
    from flows.running.plan import places
    from flows.running.tasks import Batch
    from tasks.core.settings import load

    settings = load(profile)
    batch = Batch(source, target, profile, deadline, gold)
    link = launch.choose(settings, no_prefect, note, lost)
    run_batch(batch, settings, places(settings, concurrency), link, Board(len(batch.tasks)))
    if as_json:
        print_json(batch.summary())
    else:
        print_batch(batch)
    if batch.ended == "interrupted":
        leave(130)
    fine = all(row.status in ("approved", "not_assessed") for row in batch.rows.values())
    raise typer.Exit(0 if fine else 5)


def print_batch(batch: Batch) -> None:
    """A line for each task in the order of their ends, and the totals."""
    from rich.markup import escape

    shown = table("task", "status", "s", "tokens", "rows", *(["score"] if batch.score else []), "why")
    for row in batch.rows.values():
        tokens, rows = f"{row.tokens_in + row.tokens_out:,}", "" if row.rows is None else f"{row.rows:,}"
        score = ["" if row.score is None else f"{row.score:.3f}"] if batch.score else []
        shown.add_row(escape(row.task), row.status, f"{row.seconds:.1f}", tokens, rows, *score, escape(row.reason))
    out.print(shown)
    for hint in sorted({row.next for row in batch.rows.values() if row.next}):
        out.print(f"next: {escape(as_called(hint))}")
    if batch.ignored:
        out.print(f"ignored, as no task folders: {escape(', '.join(batch.ignored))}")
    if problem := batch.score.get("problem"):
        out.print(f"not scored: {escape(problem)}")
    elif batch.score:
        scored = batch.score
        out.print(f"mean score {scored['mean']} over {scored['tasks']} tasks, {scored['perfect']} of them perfect")
    counts = ", ".join(f"{count} {name}" for name, count in batch.summary()["counts"].items())
    out.print(f"{counts}; {batch.seconds:.1f} s; {escape(str(batch.target / 'summary.json'))}")
