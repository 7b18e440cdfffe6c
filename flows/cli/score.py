"""`tablewright score`: predictions against gold tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.app import app, out, print_json, table


@app.command("score")
def command(
    pred: Annotated[Path, typer.Argument(help="A CSV file, or a folder with TASK/prediction.csv.")],
    gold: Annotated[Path, typer.Argument(help="A CSV file, or a folder with TASK/gold.csv.")],
    lam: Annotated[float, typer.Option(help="What a surplus column costs, as a share of its part.")] = 0.1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Score predictions by the DataAgent-Bench rule: columns as multisets of cells, names and order ignored."""
    from rich.markup import escape

    from tasks.benchmark.score import score

    result = score(pred, gold, lam)
    if as_json:
        print_json({**result.model_dump(mode="json"), "mean": result.mean})
        return
    shown = table("task", "score", "why")
    for task in result.tasks:
        shown.add_row(escape(task.task), f"{task.score:.3f}", escape(task.reason))
    out.print(shown)
    perfect = sum(task.perfect for task in result.tasks)
    out.print(f"mean {result.mean:.4f} over {len(result.tasks)} tasks, {perfect} of them perfect")
