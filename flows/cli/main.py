"""`tablewright`: arguments → a command → an exit code."""

from __future__ import annotations

import signal
import sys
import traceback
from types import TracebackType

import typer
from rich.markup import escape

from flows.cli import answer, batch, compare, doctor, inspect, model, score, serve  # noqa: F401  each adds its commands
from flows.cli.app import app, err, print_json
from tasks.core.errors import TablewrightError


@app.callback()
def options(debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error.")) -> None:
    """Options before a command; `--debug` may stand anywhere."""


def main() -> None:
    """Run the command line; ends the process."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    if not debug:
        sys.excepthook = _unexpected
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        typer.main.get_command(app)(arguments or ["--help"], prog_name="tablewright")
    except TablewrightError as error:
        if debug:
            traceback.print_exc()
        if "--json" in arguments:
            kind, code = type(error).__name__, error.exit_code
            print_json({"error": {"kind": kind, "message": error.message, "next": error.hint}, "exit_code": code})
        err.print(f"[bold red]error:[/] {escape(str(error))}")
        sys.exit(error.exit_code)
    except BaseException as error:
        if type(error).__name__ == "TerminationSignal":  # what Prefect makes of SIGTERM; it is not imported to say so
            sys.exit(130)
        raise


def _unexpected(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    err.print(f"[bold red]unexpected error:[/] {escape(f'{kind.__name__}: {error}')}")
    err.print("  next: run again with --debug for the traceback, and report it")
