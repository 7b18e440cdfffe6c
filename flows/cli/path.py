"""`tablewright path`: what the wall clock of a run waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.app import app, out, print_json, table

if TYPE_CHECKING:
    from flows.path import CriticalPath, Kind

_LEAST_SHARE = 0.01
"""Of the wall clock; shorter steps are told together."""
_NAMES: dict[Kind, str] = {
    "model": "replies of models",
    "slot": "in line at an endpoint",
    "held": "kept back for a prefix",
    "trouble": "failed tries and pauses",
    "code": "own code",
}


@app.command("path")
def path(
    run: Annotated[str, typer.Argument(help="Id of a run, or the start of it; without one, the newest run.")] = "",
    profile: Annotated[str, typer.Option(help="The profile whose store has it.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Show what the wall clock of a run waited for, one thing after another, and how near it came to the ideal."""
    import asyncio

    from flows.path import path_of
    from flows.running import record
    from flows.runs import store_of
    from tasks.core.errors import InputError
    from tasks.core.settings import load

    store = asyncio.run(store_of(load(profile)))
    newest = run or next(iter(record.names(store)), "")
    if not newest:
        raise InputError("no run is in the store", 'make one: tablewright answer FOLDER "question"')
    found = path_of(store, record.find(store, newest))
    if as_json:
        print_json({**found.model_dump(mode="json"), "share": round(found.share, 4)})
    else:
        show(found)


def show(found: CriticalPath) -> None:
    """Print it."""
    out.print(f"{found.run}: {found.seconds:.2f} s")
    for kind, seconds in found.parts.items():
        if seconds or kind in ("model", "code"):
            out.print(f"  {_NAMES[kind]:24} {seconds:9.2f} s  {_share(seconds, found):>6}")
    out.print(
        f"ideal {found.ideal:.2f} s, the longest chain of replies that wait for each other: {_share(found.ideal, found)} of the run"
    )
    if found.packed > found.ideal:
        out.print(f"  with what the endpoints take at once, no less than {found.packed:.2f} s")
    shown = table("began s", "seconds", "what", "stage", "role")
    short = [step for step in found.steps if step.seconds < _LEAST_SHARE * found.seconds]
    for step in found.steps:
        if step not in short:
            shown.add_row(f"{step.began:.2f}", f"{step.seconds:.2f}", _NAMES[step.kind], step.stage, step.role)
    out.print(shown)
    if short:
        out.print(f"and {len(short)} shorter steps, {sum(step.seconds for step in short):.2f} s together")
    if found.asked:
        _print_roles(found)


def _print_roles(found: CriticalPath) -> None:
    roles = table("role", "requests", "replies s", "in line s", "tokens in", "cached", "tokens out")
    for each in found.asked:
        cached = f"{each.tokens_cached / each.tokens_in:.0%}" if each.tokens_in else ""
        roles.add_row(
            each.role, f"{each.requests}", f"{each.seconds:.2f}", f"{each.waited:.2f}", f"{each.tokens_in:,}", cached,
            f"{each.tokens_out:,}",
        )  # fmt: skip
    out.print(roles)


def _share(seconds: float, found: CriticalPath) -> str:
    return f"{seconds / found.seconds:.1%}" if found.seconds else "0.0%"
