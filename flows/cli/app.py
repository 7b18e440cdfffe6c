"""The command line's frame: one Typer application, exit codes, and how errors are shown."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from tasks.core.models.run import StageSpend

EXIT_CODES = """Exit codes:  0 answered · 1 unexpected error · 2 input, settings or disk · 3 model · 4 budget ·
5 ended, but the answer is partial, rejected or missing (the report says why) · 130 interrupted"""

app = typer.Typer(
    name="tablewright",
    help="Ask a question over a folder of tables and documents; get an answer table that can be traced and replayed.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What acts on a terminal in place of being shown: control characters, changes of direction, halves of characters."""


class _Console(Console):
    """Shows texts of files and models; what would act on the terminal is shown as a mark."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(_UNSHOWN.sub("\ufffd", text), **options)


out = _Console(highlight=False, soft_wrap=True)
"""Results."""
err = _Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and errors."""


_lost = threading.Event()
_NEXT = re.compile(r"(?<![\w./\\-])tablewright (?=([a-z]+)\b)")


def called() -> str:
    """How the user calls us: `tablewright`, or the path of it where the name alone would not be found."""
    given = Path(sys.argv[0])
    if given.name not in ("tablewright", "tablewright.exe") or given.parent == Path():
        return "tablewright"
    found = shutil.which("tablewright")
    same = found is not None and Path(found).absolute() == given.absolute()
    return "tablewright" if same else shlex.quote(str(given))


def as_called(text: str) -> str:
    """A message whose commands stand as the user calls them."""
    names = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    return _NEXT.sub(lambda found: f"{called()} " if found[1] in names else found[0], text)


def table(*columns: str, title: str = "") -> Table:
    """An empty table for `out`; long cells are folded, never cut, and a word of a heading stays whole."""
    made = Table(box=SIMPLE_HEAD, title=escape(title), title_justify="left", title_style="bold", pad_edge=False)
    for name in columns:
        made.add_column(escape(name), overflow="fold", min_width=max(map(len, name.split()), default=0))
    return made


def spent(total: StageSpend, kept: bool) -> str:
    """What a run asked of models; `kept`: it has a result, which without any call is that of an earlier run."""
    if kept and not total.calls:
        journal = f" ({total.journaled} replies from the journal)" if total.journaled else ""
        return f"no model was asked: read from an earlier run{journal}"
    money = f", ${total.money:.4f}" if total.money else ""
    cached = f", {total.tokens_cached} of them from a cache" if total.tokens_cached else ""
    tokens = f"{total.tokens_in + total.tokens_out} tokens{cached}"
    earlier = f" and {total.journaled} from the journal" if total.journaled else ""
    return f"{total.calls} model calls{earlier}; {tokens}{money}"


def note(text: str) -> None:
    """Say on standard error what a reader may pass over."""
    err.print(as_called(text), style="dim")


def lost(text: str) -> None:
    """Say once that the Prefect server went away; the process then ends without waiting for what would still be sent to it."""
    err.print(f"[yellow]warning:[/] {escape(as_called(text))}")
    _lost.set()


def leave(code: int) -> NoReturn:
    """End this process at once: taking the interpreter down can take long, which neither a signal nor a lost server leaves."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def end(code: int) -> NoReturn:
    """End this process in the way that is left to it."""
    if _lost.is_set():
        leave(code)
    sys.exit(code)


def print_json(data: Any) -> None:
    """One JSON document on standard output, letters of all scripts as they are."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    typer.echo(re.sub(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", text))


def print_error(kind: str, message: str, hint: str, code: int) -> None:
    """An error as the JSON document that stands in place of a result."""
    print_json({"error": {"kind": kind, "message": as_called(message), "next": as_called(hint)}, "exit_code": code})
