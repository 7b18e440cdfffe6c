"""tables, texts, a picture, progress → Prefect artifacts of the run around them; trouble of the server costs the picture only."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

ARTIFACT_BYTES = 100_000
"""Prefect lists artifacts with their content: 40 MB in one made its page answer with 52 MB."""
_SECONDS = 20.0
_LEAST_SECONDS = 2.0
"""Between two updates of a progress: each is a request to the server."""
_SLIGHT = 1e-6
"""What parts of a thing may miss of it by being added up."""
_log = logging.getLogger(__name__)
there: ContextVar[Callable[[], Awaitable[bool]] | None] = ContextVar("there", default=None)
"""Whether the server is there to be shown anything; who says that it is not tells the user."""


@dataclass(frozen=True)
class Sheet:
    """A table. Keys of artifacts take lower-case letters, digits and dashes only."""

    key: str
    rows: list[dict[str, Any]]
    about: str


@dataclass(frozen=True)
class Text:
    """Markdown; what an artifact cannot hold of it is cut off."""

    key: str
    markdown: str


@dataclass(frozen=True)
class Picture:
    """A PNG file's bytes."""

    key: str
    png: bytes
    about: str


Shown = Sheet | Text | Picture


def in_run() -> bool:
    """Whether a Prefect flow or task run is under way; Prefect is not imported to find out."""
    context = sys.modules.get("prefect.context")
    return bool(context and (context.FlowRunContext.get() or context.TaskRunContext.get()))


async def show(what: str, parts: Iterable[Shown]) -> tuple[str, ...]:
    """Show the parts, in their order, in the run under way; gives a warning where that fails. Without a run nothing is made of them."""
    return await guarded(what, _create(parts)) if in_run() else ()


def within(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many rows as an artifact may hold."""
    room, held = ARTIFACT_BYTES, []
    for row in rows:
        room -= len(json.dumps(row).encode()) + 2
        if room < 0:
            break
        held.append(row)
    return held


class Gauge:
    """How many of `total` things have ended, as the server shows it in the flow run around them; parts of one count as such."""

    def __init__(self, key: str, total: int, what: str = "questions") -> None:
        self.key, self.total, self.what = key, total, what
        self.done = 0.0
        self._id: Any = None
        self._told = 0.0
        self._turn = asyncio.Lock()

    async def end(self, count: float = 1) -> None:
        """So many more have ended."""
        self.done += count
        now = time.monotonic()
        if self.done > self.total - _SLIGHT or now - self._told >= _LEAST_SECONDS:
            self._told = now
            async with self._turn:  # two that end at once: one bar, and the later word stays
                await guarded("progress", self._tell())

    async def _tell(self) -> None:
        from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact

        percent = 100.0 * self.done / max(self.total, 1)
        whole = abs(self.done - round(self.done)) < _SLIGHT
        said = f"{self.done:.{0 if whole else 1}f} of {self.total} {self.what}"
        if self._id is None:
            self._id = await acreate_progress_artifact(progress=percent, key=self.key, description=said)
        else:
            await aupdate_progress_artifact(artifact_id=self._id, progress=percent, description=said)


async def guarded(what: str, act: Coroutine[Any, Any, None]) -> tuple[str, ...]:
    """Do what shows something on the server, where that is there; the warning when it fails: what it shows is whole all the same."""
    import httpx
    from prefect.exceptions import PrefectException

    if (asked := there.get()) and not await asked():
        act.close()
        return ()
    try:
        async with asyncio.timeout(_SECONDS):
            await act
    except (PrefectException, httpx.HTTPError, OSError, RuntimeError, ValueError) as error:
        warning = f"{what} could not be shown in Prefect: {type(error).__name__}: {error}"
        _log.warning(warning)
        return (warning,)
    return ()


async def _create(parts: Iterable[Shown]) -> None:
    from prefect.artifacts import acreate_image_artifact, acreate_markdown_artifact, acreate_table_artifact

    for part in parts:
        match part:
            case Sheet():
                await acreate_table_artifact(table=part.rows, key=part.key, description=part.about)
            case Text():
                await acreate_markdown_artifact(markdown=part.markdown[: ARTIFACT_BYTES // 4], key=part.key)
            case Picture():
                url = f"data:image/png;base64,{base64.b64encode(part.png).decode()}"
                await acreate_image_artifact(image_url=url, key=part.key, description=part.about)
