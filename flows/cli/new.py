"""`tablewright new`: loose files → a task folder that can be inspected and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from flows.cli.app import app, as_called, out, print_json

if TYPE_CHECKING:
    from flows.new import Placed


@app.command("new")
def command(
    folder: Annotated[str, typer.Argument(help="Folder to make, or a task folder to add files to.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Tables, documents, videos, a knowledge.md.")],
    question: Annotated[str, typer.Option(help="Kept in task.json; without it, you ask when you answer.")] = "",
    link: Annotated[bool, typer.Option("--link", help="Hard links in place of copies, on the same disk.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document in place of text.")] = False,
) -> None:
    """Lay out a task folder from loose files: each where its kind belongs, with a knowledge.md to fill in. Nothing is written over."""
    import shlex

    from flows.new import lay_out

    made = lay_out(folder, tuple(files), question, link)
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    out.print(escape(made.folder), style="bold")
    for one in made.files:
        remark = f" ({one.reason})" if one.reason and one.target else one.reason
        out.print(f"  {_became(one):<9}  {escape(one.file)} → {escape(one.target + remark)}")
    for name in made.wrote:
        what = "the question" if name == "task.json" else "hints about what the data do not say; fill it in"
        out.print(f"  {'made':<9}  {name}: {what}")
    name = shlex.quote(folder)
    asked = "" if made.question else ' "question"'
    out.print(escape(as_called(f"next: tablewright inspect {name}")))
    out.print(escape(as_called(f"      tablewright answer {name}{asked} --profile local")))


def _became(one: Placed) -> str:
    if not one.target:
        return "left out"
    return "part" if one.kind == "other" else one.kind
