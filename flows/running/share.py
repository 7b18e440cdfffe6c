"""Work on one document → how far all of them are, as the server shows it in the flow run around them."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from tasks.artifacts import Gauge, in_run

KEY = "documents-progress"
PLANNED, EXTRACTED = 0.1, 0.8
"""Shares of a document's way that end with its plan and with its last slice; the rest are columns and the table."""
T = TypeVar("T")


def gauge_of(documents: int) -> Gauge | None:
    """That of so many documents; None where no flow run is around that could show it."""
    return Gauge(KEY, documents, "documents") if in_run() else None


class Share:
    """One document's part of the progress; it only grows, and comes to 1."""

    def __init__(self, gauge: Gauge | None) -> None:
        self.gauge, self.left = gauge, 1.0

    async def add(self, part: float) -> None:
        """So much more of it is done, from 0 to 1; never more than is left."""
        part = min(part, self.left)
        self.left -= part
        if self.gauge and part:
            await self.gauge.end(part)

    async def after(self, work: Awaitable[T], part: float) -> T:
        """What the work gives; that part is done then."""
        found = await work
        await self.add(part)
        return found
