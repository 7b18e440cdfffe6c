"""`tablewright serve`: Prefect server, its UI and our deployments, on this machine, until Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.app import app, err, out

if TYPE_CHECKING:
    from tasks.core.settings import Settings

_START_SECONDS = 120
_POLL_SECONDS = 2
"""How often the server is asked for new runs."""


@app.command("serve")
def command(
    profile: Annotated[str, typer.Option(help="The profile that [prefect] and [store] are read from.")] = "default",
    limit: Annotated[int, typer.Option(min=1, help="Runs at once.")] = 2,
) -> None:
    """Start a Prefect server with our deployments; runs can then be started, watched and retried in its UI."""
    import contextlib
    import os
    import signal
    from urllib.parse import urlsplit

    from flows.running import server
    from tasks.core import settings
    from tasks.core.errors import InputError

    chosen = settings.load(profile)
    url = chosen.prefect.api_url
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # its terminal was closed, and it runs under no `nohup`
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    roots = chosen.prefect.roots
    for name, value in {**server.variables(url), "TABLEWRIGHT_ROOTS": os.pathsep.join(roots)}.items():
        settings.set_default(name, value)
    may = f"folders in {', '.join(roots)}" if roots else "any folder of this machine (prefect.roots limits them)"
    err.print(f"runs that are started in the UI may name {may}", style="dim")
    with contextlib.ExitStack() as stack:
        if server.healthy(url, chosen.prefect.probe_seconds):
            err.print(f"a Prefect server answers at {url}: it is used, and left running at the end", style="dim")
        elif urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1"):
            raise InputError(
                f"no Prefect server answers at {url}", "start it there, or set prefect.api_url to this machine"
            )
        else:
            path = chosen.store.folder / "server.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            err.print(f"starting a Prefect server; its log is {path}", style="dim")
            log = stack.enter_context(path.open("w"))
            stack.enter_context(server.running(url, log, _START_SECONDS))
        _serve(chosen, limit)


def _serve(chosen: Settings, limit: int) -> None:
    import asyncio
    import contextlib

    url = chosen.prefect.api_url

    async def main() -> None:
        from prefect import aserve

        from flows.deployed import deployments
        from flows.runs import list_runs, store_of

        for row in await list_runs(await store_of(chosen), most=0, statuses=("orphaned",)):
            err.print(f"run {row.run} was left by a process that is gone: tablewright resume {row.run}", style="dim")
        made: list[Any] = await deployments()
        names = ", ".join(f"{deployment.flow_name}/{deployment.name}" for deployment in made)
        out.print(f"UI: [bold]{url.removesuffix('/api')}[/]  deployments: {names}  (Ctrl-C ends it)")
        await aserve(
            *made, limit=limit, print_starting_message=False, pause_on_shutdown=False, query_seconds=_POLL_SECONDS
        )

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
