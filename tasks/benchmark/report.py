"""figures of a run → report.html, report.md and plots.png in its folder, the section of another file, Prefect artifacts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from tasks.artifacts import Picture, Sheet, Shown, Text, show
from tasks.benchmark.reporting.markdown import SETUP_HEADS, markdown, setup_row
from tasks.benchmark.reporting.page import render
from tasks.benchmark.reporting.plots import plots, png, svg
from tasks.benchmark.reporting.section import replace_section
from tasks.core.files.caller import write_all
from tasks.core.models.benchmark import Benchmark
from tasks.core.models.evidence import Delivery
from tasks.stage import stage

FILES = ("report.html", "report.md", "plots.png")


@stage(fresh=True)
async def write_report(found: Benchmark, into: str = "", section: str = "") -> Delivery:
    """Write the report into the run's folder, show it in Prefect, and put it into the section of the file `into`.

    Raises InputError when a file cannot be written, or `into` has no such section.
    """
    text, drawing = markdown(found), svg(plots(found))
    picture = await asyncio.to_thread(png, drawing)
    files = dict(zip(FILES, (render(found, drawing).encode(), text.encode(), picture), strict=True))
    folder = write_all(found.folder, files, "the report")
    if into:
        replace_section(Path(into), section, text)
    warnings = await show("the report", _pictures(found, text, picture))
    return Delivery(folder=str(folder), files=FILES, warnings=warnings)


def _pictures(found: Benchmark, text: str, picture: bytes) -> Iterator[Shown]:
    """Scores, plots and page."""
    rows = [dict(zip(SETUP_HEADS, setup_row(s), strict=True)) for s in found.setups]
    yield Sheet("benchmark-scores", rows, f"Run {found.run}")
    yield Picture("benchmark-plots", picture, f"Run {found.run}")
    yield Text("benchmark-report", text)
