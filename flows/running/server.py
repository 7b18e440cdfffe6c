"""API address → whether a Prefect server answers there, or one started on this machine."""

from __future__ import annotations

import contextlib
import http.client
import os
import sys
import time
from collections.abc import Iterator
from typing import IO
from urllib.parse import urlsplit

from tasks.core import process, settings
from tasks.core.errors import InputError
from tasks.core.sections import PROJECT, PrefectSettings

_POLL_SECONDS = 0.2


def healthy(api_url: str, seconds: float) -> bool:
    """Whether a Prefect server answers its health check at this address in time."""
    parts = urlsplit(api_url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=seconds)
        with contextlib.closing(connection):
            connection.request("GET", f"{parts.path.rstrip('/')}/health")
            reply = connection.getresponse()
            return reply.status == 200 and reply.read(8).strip() == b"true"
    except (OSError, http.client.HTTPException, ValueError):
        return False


def reach(prefect: PrefectSettings) -> bool:
    """Whether a server answers; from then on Prefect in this process talks to it."""
    if not healthy(prefect.api_url, prefect.probe_seconds):
        return False
    for name, value in variables(prefect.api_url).items():
        settings.set_default(name, value)
    return True


def variables(api_url: str) -> dict[str, str]:
    """What a Prefect server and its runs on this machine are told through the environment.

    Analytics, promotion and the second UI are off: the latter calls a foreign host whatever the first says.
    The port is a setting and no flag, because the UI reads the setting.
    """
    parts = urlsplit(api_url)
    return {
        "DO_NOT_TRACK": "1",
        "PREFECT_API_URL": api_url,
        "PREFECT_SERVER_API_HOST": parts.hostname or "127.0.0.1",
        "PREFECT_SERVER_API_PORT": str(parts.port or 4200),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
        "PREFECT_SERVER_UI_V2_ENABLED": "false",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_UI_API_URL": api_url,
    }


@contextlib.contextmanager
def running(api_url: str, log: IO[str], seconds: float) -> Iterator[None]:
    """A server at this loopback address until the end of the block, or of this process; its output goes to `log`.

    Raises InputError when it is not healthy in time.
    """
    child = process.start(
        [sys.executable, "-m", "flows.running.parented", str(os.getpid()), "prefect", "server", "start"],
        stdout=log,
        stderr=log,
        env=settings.environment(PYTHONPATH=str(PROJECT), **variables(api_url)),
    )
    try:
        _wait(child, api_url, seconds)
        yield
    finally:
        process.stop(child)


def _wait(child: process.Child, api_url: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not healthy(api_url, 1.0):
        if child.poll() is not None or time.monotonic() > deadline:
            how = "ended" if child.poll() is not None else f"did not answer within {seconds:g} s"
            raise InputError(f"the Prefect server at {api_url} {how}", "look at its log; another may hold the port")
        time.sleep(_POLL_SECONDS)
