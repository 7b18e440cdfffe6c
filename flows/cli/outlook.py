"""What a dry run found → the terminal, or one JSON document with the prompts themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flows.cli.app import out, print_json, table

if TYPE_CHECKING:
    from flows.dry import Outlook
    from flows.running.request import AnswerRequest


def show(request: AnswerRequest, as_json: bool) -> None:
    """Look ahead and print what would be sent where, and what it may cost."""
    import asyncio

    from flows.cli import progress
    from flows.dry import look

    with progress.shown():
        found = asyncio.run(look(request))
    if as_json:
        print_json({**found.model_dump(mode="json"), "total": found.total(), "dry_run": True})
    else:
        _print(found)


def _print(found: Outlook) -> None:
    from rich.markup import escape

    out.print(f"[bold]{escape(found.question)}[/]")
    if not found.planned:
        out.print("no model would be asked: all is read from earlier runs")
        return
    shown = table("stage", "calls", "tokens sent", "tokens back, at most", "$ at most")
    for part in found.planned:
        money = "?" if part.money is None else f"{part.money:.4f}"
        shown.add_row(
            f"{part.stage} (estimate)" if part.estimated else part.stage,
            f"{part.calls}",
            f"{part.tokens_in:,}",
            f"{part.tokens_out:,}",
            money,
        )
    shown.columns[0].no_wrap = True
    out.print(shown)
    for each in found.patterns:
        out.print(
            f"{escape(each.document)}, section {escape(each.section)}: {each.records:,} records told alike would be read by learned patterns, an estimate "
            f"of {each.calls:,} calls and {each.tokens:,} tokens there and back, where slices take {each.slice_calls:,} calls and {each.slice_tokens:,} tokens"
        )
    for model, places in dict.fromkeys((part.model, part.places) for part in found.planned):
        out.print(f"to {escape(', '.join(places))}: model {escape(model)}")
    total = found.total()
    bound = "about" if found.patterns else "at most"
    money = "price not known" if total["money"] is None else f"{bound} ${total['money']:.4f}"
    out.print(
        f"first requests: {total['calls']} calls, {total['tokens_in']:,} tokens sent, {money}; --json shows the prompts"
    )
    out.print(f"then: {found.later}")
    limits = [f"{name} {value:,.10g}" for name, value in found.limits.items() if value]
    out.print(f"the budget stops it at {', '.join(limits)}" if limits else "no budget is set (budget.* in the profile)")
    if earlier := found.earlier:
        out.print(
            f"{earlier.runs} earlier runs under these settings took {earlier.calls:g} calls and {earlier.tokens:,g} tokens (median)"
        )
    out.print("nothing was sent")
