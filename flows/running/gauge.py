"""Units of work that end one by one → a progress artifact of the flow run around them."""

from __future__ import annotations

import logging
import time
from typing import Any

_LEAST_SECONDS = 2.0
"""Between two updates: each is a request to the server."""
_log = logging.getLogger(__name__)


class Gauge:
    """How many of `total` have ended, as the server shows it; trouble of the server costs the picture only."""

    def __init__(self, key: str, total: int) -> None:
        self.key, self.total, self.done = key, total, 0
        self._id: Any = None
        self._told = 0.0

    async def end(self, count: int = 1) -> None:
        """So many more have ended."""
        self.done += count
        now = time.monotonic()
        if self.done < self.total and now - self._told < _LEAST_SECONDS:
            return
        self._told = now
        import httpx
        from prefect.exceptions import PrefectException

        try:
            await self._tell(100.0 * self.done / max(self.total, 1))
        except (PrefectException, httpx.HTTPError, OSError, RuntimeError, ValueError) as error:
            _log.warning(f"progress could not be shown in Prefect: {type(error).__name__}: {error}")

    async def _tell(self, percent: float) -> None:
        from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact

        said = f"{self.done} of {self.total} questions"
        if self._id is None:
            self._id = await acreate_progress_artifact(progress=percent, key=self.key, description=said)
        else:
            await aupdate_progress_artifact(artifact_id=self._id, progress=percent, description=said)
