"""`tablewright compare`: suites with gold under several profiles, in one run → a page of scores and cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.app import app, err, out


@app.command("compare")
def command(
    suite: Annotated[list[Path], typer.Option(help="Folder of task folders with gold/TASK/gold.csv; repeat for more.")],
    profile: Annotated[list[str], typer.Option(help="Settings to compare; repeat for more.")],
    target: Annotated[Path, typer.Option("--out", help="Where predictions and the page go.")],
    skip: Annotated[list[str] | None, typer.Option(help="SUITE/TASK to leave out; repeat for more.")] = None,
    concurrency: Annotated[int, typer.Option(min=0, help="Tasks at once; 0: batch.concurrency.")] = 0,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Run nothing; write the page of what OUT holds.")
    ] = False,
) -> None:
    """Measure profiles on suites: score, coverage, agreement, seconds and tokens a task, in OUT/results.md.

    Seconds are the wall clock of the batch by its tasks; run with an empty store, or they are those of reading it.
    """
    from flows.batch import run_batch
    from flows.cli.progress import Board
    from flows.compare import Result, page, result_of
    from flows.running.tasks import Batch
    from tasks.benchmark.score import gold_tables
    from tasks.core.settings import load

    for folder in suite:
        gold_tables(folder / "gold")
    loaded = {name: load(name) for name in profile}
    left_out = set(skip or ())
    results: list[Result] = []
    for folder in suite:
        for name, settings in loaded.items():
            place = target / Path(name).stem / folder.name
            if not page_only:
                batch = Batch(folder, place, name, 0)
                batch.tasks = [task for task in batch.tasks if f"{folder.name}/{task}" not in left_out]
                err.print(f"{folder.name} under {name}: {len(batch.tasks)} tasks", style="dim")
                run_batch(batch, settings, concurrency, False, Board(len(batch.tasks)))
                if batch.ended == "interrupted":
                    raise typer.Exit(130)
            results.append(result_of(place, folder / "gold", Path(name).stem))
            share = settings.agent.confident_share
            (target / "results.md").write_text(page(results, share), "utf-8")
    out.print((target / "results.md").read_text("utf-8"), markup=False)
