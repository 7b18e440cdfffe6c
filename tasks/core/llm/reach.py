"""An error of a request → why no connection was made, in words for who can mend it, and whether waiting may help."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from urllib.parse import urlsplit

from tasks.core.llm.said import causes

_LOOK_SECONDS = 3.0
"""For a connection that is only looked for; with no word by then the request itself finds out."""


async def refused(url: str) -> str:
    """Why nothing takes a connection at `url`, where that is told at once; empty where something does, or a proxy stands before it."""
    from urllib.request import getproxies

    parts = urlsplit(url)
    if not parts.hostname or {"http", "https", "all"} & set(getproxies()):
        return ""
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            _, writer = await asyncio.open_connection(
                parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
            )
        writer.close()
    except OSError as error:
        why, at_once = unreached(error, url)
        return why if at_once else ""
    return ""


def unreached(error: BaseException, url: str) -> tuple[str, bool]:
    """Why no connection to the place of `url` was made, empty when one was made, or it is not known; and whether that was
    told at once, as where nothing listens, and not by a time-out.
    """
    import httpx

    chain = causes(error)
    place, name = _place(chain, url)
    for each in chain:
        if isinstance(each, socket.gaierror):
            return f"no address is known here for the host name {name!r} ({each.strerror or 'not found'})", True
        if isinstance(each, ssl.SSLError) and type(each).__module__ == "ssl":
            why = (
                getattr(each, "verify_message", "")
                or str(getattr(each, "reason", None) or each).replace("_", " ").lower()
            )
            return f"no safe connection to {place} ({why})", True
        if isinstance(each, OSError) and _is(each, errno.ECONNREFUSED):
            return f"nothing listens at {place} (connection refused)", True
        if isinstance(each, OSError) and each.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            return f"there is no way to {place} ({os.strerror(each.errno).lower()})", True
    if any(isinstance(each, httpx.ConnectTimeout) for each in chain):
        return f"{place} took no connection in time", False
    if any(isinstance(each, httpx.ConnectError) for each in chain):
        return f"no connection to {place} could be made", False
    return "", False


def lost(error: BaseException) -> bool:
    """Whether a connection was made and ended before the reply was whole."""
    import httpx

    return any(isinstance(each, httpx.TransportError) for each in causes(error))


def _is(error: OSError, code: int) -> bool:
    """Several addresses tried in turn fail as one error that tells of all."""
    return error.errno == code or f"[Errno {code}]" in str(error)


def _place(chain: tuple[BaseException, ...], url: str) -> tuple[str, str]:
    """Host and port, and the host alone, that were tried: by the error, which knows of proxies, else by the URL."""
    for each in chain:
        host, port = getattr(each, "host", None), getattr(each, "port", None)
        if isinstance(host, str) and isinstance(port, int):
            return f"{host}:{port}", host
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or "the provider's address", parts.hostname or ""
