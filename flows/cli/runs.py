"""`tablewright runs` and `resume`: the runs of a store, and another try of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.app import app, as_called, err, out, print_json

if TYPE_CHECKING:
    from flows.runs import Listed
    from tasks.core.settings import Settings

_PROFILE = "Settings: a name from configs/ or the path of a .toml."


@app.command("runs")
def runs(
    profile: Annotated[str, typer.Option(help=_PROFILE)] = "default",
    most: Annotated[int, typer.Option("--last", "-n", min=0, help="The newest so many; 0: all.")] = 20,
    status: Annotated[
        list[str] | None, typer.Option(help="Only runs of this status; may be repeated; without it, all.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Folder with TASK/gold.csv; without it, gold/ beside a run's folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """List runs with status, score and spend; those whose process is gone are marked as orphaned."""
    import asyncio

    from flows.running import launch
    from flows.runs import list_runs, store_of
    from tasks.core.files.paths import check_folder
    from tasks.core.settings import load

    settings = load(profile)
    there = launch.choose(settings, False, lambda _: None) is not None

    async def main() -> list[Listed]:
        return await list_runs(await store_of(settings), most, gold, status or (), there)

    if gold:
        check_folder(gold, "a folder with TASK/gold.csv")
    rows = asyncio.run(main())
    if as_json:
        print_json([row.model_dump(mode="json") for row in rows])
    else:
        _print(rows, f" with status {' or '.join(status)}" if status else "", settings)


@app.command("resume")
def resume(
    run: Annotated[str, typer.Argument(help="Id of a run, or the start of it; `tablewright runs` lists them.")],
    profile: Annotated[str, typer.Option(help="The profile whose store has it.")] = "default",
    no_prefect: Annotated[bool, typer.Option("--no-prefect", help="Plain calls, even when a server answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Go on with a run that broke, under its id: what is done is read, no reply of a model is paid for again."""
    import asyncio

    from flows.cli import answer, document
    from flows.running import record
    from flows.running.request import AnswerRequest, DocumentRequest
    from flows.runs import store_of
    from tasks.core.settings import load

    settings = load(profile)
    found = record.find(asyncio.run(store_of(settings)), run)
    request = found.asked()
    chosen = load(request.profile, request.overrides())
    if found.settings and found.settings != record.shaping(chosen):
        err.print(f"the settings are not those that {found.run} began with: stages that they concern run anew")
    if isinstance(request, DocumentRequest):
        document.run(request, as_json)
    assert isinstance(request, AnswerRequest)
    answer.run(request, chosen, no_prefect, as_json)


def _print(rows: list[Listed], which: str, settings: Settings) -> None:
    from rich.markup import escape

    if not rows:
        place = f"Prefect block {settings.store.block}" if settings.store.block else settings.store.folder
        out.print(escape(f"no run{which} is in the store ({place})"))
        if not which:
            out.print(as_called('  next: make one: tablewright answer FOLDER "question"'))
        return
    for row in rows:
        at = f" (process {row.process})" if row.process else f" (on {row.machine})" if row.status == "running" else ""
        tries = f" after {row.tries} tries" if row.tries > 1 else ""
        score = "" if row.score is None else f"  score {row.score:.3f}"
        earlier = f" and {row.spend.journaled:,} from the journal" if row.spend.journaled else ""
        spent = f"{row.spend.calls:,} calls{earlier}, {row.spend.tokens_in + row.spend.tokens_out:,} tokens"
        cached = f", {row.spend.tokens_cached:,} of them from a cache" if row.spend.tokens_cached else ""
        money = f", ${row.spend.money:.4f}" if row.spend.money else ""
        out.print(f"{row.run}  [bold]{row.status}[/]{at}{tries}{score}  {row.seconds:.1f} s  {spent}{cached}{money}")
        out.print(f"    {escape(Path(row.folder).name)}: {escape(row.question or 'its documents')}")
        if row.reason and row.status in ("failed", "partial", "broken"):
            out.print(f"    why: {escape(as_called(row.reason))}")
    if lost := [row.run for row in rows if row.status == "orphaned"]:
        out.print(f"go on with a run whose process is gone: tablewright resume {lost[0]}")
