"""figures of a run + their drawing → one HTML page that needs no script and asks nothing of the network."""

from __future__ import annotations

from pathlib import Path

from tasks.benchmark.reporting.markdown import SETUP_HEADS, STAGE_HEADS, errors, setup_row, stage_rows, verdict
from tasks.core.files.template import environment
from tasks.core.models.benchmark import Benchmark

_FOLDER = Path(__file__).resolve().parent


def render(found: Benchmark, drawing: str) -> str:
    """The page; `drawing` is SVG of ours, in which all names are escaped."""
    from markupsafe import Markup

    first = [(f"Against the run {found.against.before}", found.against)] if found.against else []
    pairs = [*first, *((f"{pair.after} against {pair.before}", pair) for pair in found.between)]
    return (
        environment(_FOLDER)
        .get_template("page.html")
        .render(
            b=found,
            errors=errors(found),
            setup_heads=SETUP_HEADS,
            setups=[tuple(cell.replace("**", "") for cell in setup_row(s)) for s in found.setups],
            stage_heads=STAGE_HEADS,
            stages=stage_rows(found),
            costs=found.costs,
            pairs=[(title, pair, verdict(pair)) for title, pair in pairs],
            disputed=[(f"{s.name}/{task}", reason) for s in found.suites for task, reason in s.disputed.items()],
            drawing=Markup(drawing),
        )
    )
