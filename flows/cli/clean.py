"""`tablewright clean`: what no run has used for some time leaves the store."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.cli.app import app, out, print_json, table


@app.command("clean")
def command(
    days: Annotated[
        float | None, typer.Option("--older-than", min=0, help="Days without use; without it, store.keep_days.")
    ] = None,
    journal: Annotated[bool, typer.Option("--journal", help="Replies of models too: asked again, they cost.")] = False,
    dry: Annotated[bool, typer.Option("--dry-run", help="Remove nothing, only count.")] = False,
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Remove from the store what no run has used for so many days; never what a run under way needs."""
    import asyncio

    from flows.clean import clean
    from flows.running import launch
    from flows.runs import store_of
    from tasks.core.settings import load
    from tasks.core.wording import counted

    settings = load(profile)
    launch.choose(settings, False, lambda _: None)
    store = asyncio.run(store_of(settings))
    done = clean(store, settings.store.keep_days if days is None else days, journal, dry)
    if as_json:
        print_json({**done.model_dump(mode="json"), "dry_run": dry})
        return
    shown = table("kind", "would be removed" if dry else "removed", "MB")
    for part in done.removed:
        shown.add_row(part.kind, f"{part.count:,}", f"{part.size / 1e6:,.1f}")
    out.print(shown if done.removed else "nothing is that old")
    kept = f"{counted(done.kept_runs, 'run')} kept"
    if done.live:
        kept += f", {len(done.live)} of them under way: what was used since the first of them began is kept"
    out.print(kept)
