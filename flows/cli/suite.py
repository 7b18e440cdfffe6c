"""`tablewright suite`: a folder of tasks with gold → its manifest, and whether the tasks are still what it says."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.app import app, out, print_json

commands = typer.Typer(
    name="suite", help="Versioned suites: a folder of tasks with gold, and a manifest.", no_args_is_help=True
)
app.add_typer(commands)


@commands.command("write")
def command_write(
    folder: Annotated[Path, typer.Argument(help="Folder of tasks with gold/TASK/gold.csv.")],
    version: Annotated[str, typer.Option(help="A version that no other state of these tasks has.")] = "1",
    name: Annotated[str, typer.Option(help="Name in reports; the folder's unless given.")] = "",
    as_of: Annotated[str, typer.Option(help="The day that 'today' means in its questions, as 2026-01-31; today unless given.")] = "",
    target: Annotated[Path | None, typer.Option("--out", help="The manifest's file; suite.json in the folder unless given.")] = None,
) -> None:  # fmt: skip
    """Write the digests of all tasks and their gold; what they are from now on is checked before every benchmark."""
    from tasks.benchmark.suite import MANIFEST, write
    from tasks.core.errors import InputError

    try:
        day = date.fromisoformat(as_of) if as_of else date.today()
    except ValueError as error:
        raise InputError(f"--as-of {as_of!r}: {error}", "write it as 2026-01-31") from error
    suite = write(folder, target, name, version, day)
    out.print(f"{suite.name} {suite.version}: {len(suite.tasks)} tasks, {target or folder / MANIFEST}", markup=False)


@commands.command("check")
def command_check(
    suite: Annotated[Path, typer.Argument(help="Folder with suite.json, or a manifest elsewhere.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Compare tasks and gold with the manifest. Exit code 5 when they differ."""
    from tasks.benchmark.suite import differences, read_suite

    said, found = read_suite(suite)
    changes = differences(said.tasks, found) if said.version else ["it has no manifest"]
    if as_json:
        print_json({**said.model_dump(mode="json"), "changes": changes})
    else:
        out.print(f"{said.name} {said.version}: {len(said.tasks)} tasks, {len(said.disputed)} disputed", markup=False)
        for line in [*changes, *(f"disputed: {task}: {reason}" for task, reason in said.disputed.items())]:
            out.print(f"  {line}", markup=False)
    raise typer.Exit(5 if changes else 0)
