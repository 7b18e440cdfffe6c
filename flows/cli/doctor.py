"""`tablewright doctor`: what works on this machine, and what to do about the rest."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.cli.app import app, as_called, out, print_json

_MARKS = {"ok": "[green]ok[/]", "limited": "[yellow]limited[/]", "broken": "[red]broken[/]"}


@app.command("doctor")
def command(
    profile: Annotated[str, typer.Option(help="Settings: a name from configs/ or the path of a .toml.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Check model, isolation, Prefect and disk. Exit code 2 when something is broken."""
    import asyncio

    from rich.markup import escape

    from flows.doctor import examine

    checks = asyncio.run(examine(profile))
    broken = any(check.state == "broken" for check in checks)
    if as_json:
        print_json(
            {"works": not broken, "checks": [{**check.model_dump(), "next": as_called(check.next)} for check in checks]}
        )
    else:
        for check in checks:
            out.print(f"{_MARKS[check.state]:<20} [bold]{escape(check.name)}[/]: {escape(check.detail)}")
            if check.next:
                out.print(f"        next: {escape(as_called(check.next))}")
    raise typer.Exit(2 if broken else 0)
