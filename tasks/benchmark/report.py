"""figures of a run → report.html, report.md and plots.png in its folder, the section of another file, Prefect artifacts."""

from __future__ import annotations

import asyncio
import base64
import logging
import sys
from pathlib import Path

from tasks.benchmark.reporting.markdown import SETUP_HEADS, markdown, setup_row
from tasks.benchmark.reporting.page import render
from tasks.benchmark.reporting.plots import plots, png, svg
from tasks.benchmark.reporting.section import replace_section
from tasks.core.files.caller import write_all
from tasks.core.models.benchmark import Benchmark
from tasks.core.models.evidence import Delivery
from tasks.stage import stage

FILES = ("report.html", "report.md", "plots.png")
_ARTIFACT_BYTES = 100_000
_ARTIFACT_SECONDS = 20.0
_log = logging.getLogger(__name__)


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
    return Delivery(folder=str(folder), files=FILES, warnings=await _show(found, text, picture))


async def _show(found: Benchmark, text: str, picture: bytes) -> tuple[str, ...]:
    """Table, plots and page as Prefect artifacts when a run is under way; the files are there, whatever becomes of it."""
    context = sys.modules.get("prefect.context")
    if not (context and (context.FlowRunContext.get() or context.TaskRunContext.get())):
        return ()
    import httpx
    from prefect.exceptions import PrefectException

    try:
        async with asyncio.timeout(_ARTIFACT_SECONDS):
            await _create_artifacts(found, text, picture)
    except (PrefectException, httpx.HTTPError, OSError, RuntimeError, ValueError) as error:
        warning = f"the report could not be shown in Prefect: {type(error).__name__}: {error}"
        _log.warning(warning)
        return (warning,)
    return ()


async def _create_artifacts(found: Benchmark, text: str, picture: bytes) -> None:
    from prefect.artifacts import acreate_image_artifact, acreate_markdown_artifact, acreate_table_artifact

    rows = [dict(zip(SETUP_HEADS, setup_row(s), strict=True)) for s in found.setups]
    await acreate_table_artifact(table=rows, key="benchmark-scores", description=f"Run {found.run}")
    url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    await acreate_image_artifact(image_url=url, key="benchmark-plots", description=f"Run {found.run}")
    await acreate_markdown_artifact(markdown=text[: _ARTIFACT_BYTES // 4], key="benchmark-report")
