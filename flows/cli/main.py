"""`tablewright`: arguments → a command → an exit code."""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from importlib import metadata
from types import TracebackType

import typer
from rich.markup import escape

from flows.cli import (  # noqa: F401  each adds its commands
    answer,
    batch,
    benchmark,
    clean,
    container,
    doctor,
    document,
    inspect,
    model,
    new,
    path,
    runs,
    score,
    serve,
    suite,
)
from flows.cli.app import app, as_called, called, end, err, out, print_error
from flows.cli.pipe import be_patient
from tasks.core.errors import InputError, TablewrightError

_GARBAGE = (50_000, 20, 20)
"""Importing makes some hundred thousand objects of which none is garbage; looking at them all the time takes an eighth of the time to the first stage."""


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"tablewright {metadata.version('tablewright')}")
        raise typer.Exit


@app.callback()
def options(
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Options before a command; `--debug` may stand anywhere."""


def main() -> None:
    """Run the command line; ends the process."""
    gc.set_threshold(*_GARBAGE)
    be_patient()
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    if not debug:
        sys.excepthook = _unexpected
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    as_json = _wants_json(arguments)
    try:
        _check_text(arguments)
        command = typer.main.get_command(app)
        end(command(arguments or ["--help"], prog_name=called(), standalone_mode=not as_json) or 0)
    except TablewrightError as error:
        if debug:
            traceback.print_exc()
        if as_json:
            print_error(type(error).__name__, error.message, error.hint, error.exit_code)
        err.print(f"[bold red]error:[/] {escape(as_called(str(error)))}")
        end(error.exit_code)
    except SystemExit as ended:
        end(ended.code if isinstance(ended.code, int) else 1)
    except BaseException as error:
        if type(error).__name__ == "TerminationSignal":  # what Prefect makes of SIGTERM; it is not imported to say so
            sys.exit(130)
        if as_json and hasattr(
            error, "format_message"
        ):  # Typer's, of wrong arguments; it prints them only without --json
            print_error("UsageError", error.format_message(), "see `tablewright COMMAND --help`", 2)
            err.print(f"[bold red]error:[/] {escape(error.format_message())}")
            sys.exit(2)
        raise


def _wants_json(arguments: list[str]) -> bool:
    """Whether the option stands there; after `--` it would be a question."""
    return "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments


def _check_text(arguments: list[str]) -> None:
    for argument in arguments:
        if any("\ud800" <= sign <= "\udfff" for sign in argument):
            raise InputError(f"{argument!r} is not valid UTF-8", "rename the file or folder, or type the text again")


def _unexpected(kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    if _wants_json(sys.argv):
        print_error(kind.__name__, str(error), "run again with --debug for the traceback, and report it", 1)
    err.print(f"[bold red]unexpected error:[/] {escape(f'{kind.__name__}: {error}')}")
    err.print("  next: run again with --debug for the traceback, and report it")


if __name__ == "__main__":
    main()
