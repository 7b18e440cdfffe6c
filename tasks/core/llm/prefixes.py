"""Prompts that begin alike → the first of them goes alone, so that an endpoint with a prefix cache reads their beginning once."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import threading
import time
from collections.abc import AsyncIterator

from tasks.core.llm import calls
from tasks.core.llm.request import Request

_CHARS = 4_000
"""Of the beginning that must be equal: some thousand tokens, below which no provider keeps a prefix."""
_KEPT_SECONDS = 300.0
"""For which a beginning counts as known; providers keep them for some minutes."""


class Prefixes:
    """What one endpoint has read, and what is on its way to it. Safe to use from several loops and threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, float] = {}
        """Until when, by the monotonic clock, by digest."""
        self._leaders: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    @contextlib.asynccontextmanager
    async def turn(self, request: object, seconds: float) -> AsyncIterator[None]:
        """Send the request inside. It waits for one under way that begins as it does: for its reply, and at most so many seconds;
        0 = not at all. One of another event loop is not waited for.
        """
        key = _beginning(request) if seconds and isinstance(request, Request) else ""
        if not key:
            yield
            return
        loop, now = asyncio.get_running_loop(), time.monotonic()
        with self._lock:
            self._known = {each: until for each, until in self._known.items() if until > now}
            leader = None if key in self._known else self._leaders.get(key)
            leads = leader is None and key not in self._known
            if leads:
                self._leaders[key] = leader = (loop, asyncio.Event())
        if leader and not leads and leader[0] is loop:
            with calls.waiting("held"), contextlib.suppress(TimeoutError):
                await asyncio.wait_for(leader[1].wait(), seconds)
        try:
            yield
            with self._lock:
                self._known[key] = time.monotonic() + _KEPT_SECONDS
        finally:
            if leads and leader:
                with self._lock:
                    del self._leaders[key]
                leader[1].set()


def _beginning(request: Request) -> str:
    """Digest of how the prompt begins; empty for one that is too short to be kept."""
    text = json.dumps([request.model, request.schema, request.tools], sort_keys=True)
    said = "\n".join(f"{message['role']}: {message.get('content') or ''}" for message in request.messages)
    return hashlib.sha256(f"{text}\n{said[:_CHARS]}".encode()).hexdigest() if len(said) >= _CHARS else ""
