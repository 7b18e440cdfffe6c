"""The command line's frame: one Typer application, exit codes, and how errors are shown."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

EXIT_CODES = """Exit codes:  0 answered · 1 unexpected error · 2 input, settings or disk · 3 model · 4 budget ·
5 ended, but the answer is partial, rejected or missing (the report says why) · 130 interrupted"""

app = typer.Typer(
    name="tablewright",
    help="Ask a question over a folder of tables; get an answer table that can be traced and replayed.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

out = Console(highlight=False, soft_wrap=True)
"""Results."""
err = Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and errors."""


def table(*columns: str, title: str = "") -> Table:
    """An empty table for `out`; long cells are folded, never cut."""
    made = Table(box=SIMPLE_HEAD, title=escape(title), title_justify="left", title_style="bold", pad_edge=False)
    for name in columns:
        made.add_column(escape(name), overflow="fold")
    return made


def print_json(data: Any) -> None:
    """One JSON document on standard output, letters of all scripts as they are."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
