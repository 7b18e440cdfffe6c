"""`tablewright model`: the small model that this machine serves itself."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.cli.app import app, err, out, print_json

Profile = Annotated[str, typer.Option(help="The profile whose [local] section is meant.")]
commands = typer.Typer(name="model", help="The small model that this machine serves itself.", no_args_is_help=True)
app.add_typer(commands)


@commands.command("fetch")
def fetch(profile: Profile = "local") -> None:
    """Get the model's file, once, and check its SHA-256."""
    from tasks.core.llm.local import weights
    from tasks.core.settings import load

    out.print(f"model: {weights.fetch(load(profile).local, _say)}")


@commands.command("start")
def start(profile: Profile = "local") -> None:
    """Serve it on loopback until it is idle for local.idle_seconds; runs do this themselves."""
    import asyncio

    from tasks.core.llm.local import serve
    from tasks.core.settings import load

    out.print(asyncio.run(serve.ensure(load(profile), _say)))


@commands.command("stop")
def stop(profile: Profile = "local") -> None:
    """End its server."""
    from tasks.core.llm.local import serve
    from tasks.core.settings import load

    out.print("stopped" if serve.stop(load(profile)) else "it does not run")


@commands.command("status")
def status(
    profile: Profile = "local",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Library, file and server."""
    from tasks.core.llm.local import serve
    from tasks.core.settings import load

    known = serve.status(load(profile)).model_dump(mode="json")
    if as_json:
        print_json(known)
        return
    for name, value in known.items():
        out.print(f"{name.replace('_', ' '):<18} {value}")


def _say(text: str) -> None:
    err.print(text, style="dim")
