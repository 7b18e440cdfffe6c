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


class _Leader:
    """The first of those that begin alike, on its way."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.sent, self.done = asyncio.Event(), asyncio.Event()

    async def over(self, seconds: float) -> None:
        """Wait for its reply, and at most so long after it was sent."""
        await self.sent.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.done.wait(), seconds)


class Prefixes:
    """What one endpoint has read, and what is on its way to it. Safe to use from several loops and threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, float] = {}
        """Until when, by the monotonic clock, by digest."""
        self._leaders: dict[str, _Leader] = {}

    @contextlib.asynccontextmanager
    async def turn(self, request: object, seconds: float) -> AsyncIterator[None]:
        """Send the request inside. It waits for one under way that begins as it does: for its reply, and at most so many seconds
        after that one was sent; 0 = not at all. One of another event loop is not waited for.
        """
        key = _beginning(request) if seconds else ""
        if not key:
            yield
            return
        with self._lock:
            now = time.monotonic()
            self._known = {each: until for each, until in self._known.items() if until > now}
            other = None if key in self._known else self._leaders.get(key)
            own = self._leaders.setdefault(key, _Leader()) if not other and key not in self._known else None
        if other and other.loop is asyncio.get_running_loop():
            with calls.waiting("held"):
                await other.over(seconds)
        try:
            yield
            with self._lock:
                self._known[key] = time.monotonic() + _KEPT_SECONDS
        finally:
            if own:
                with self._lock:
                    del self._leaders[key]
                own.sent.set()
                own.done.set()

    def sent(self, request: object) -> None:
        """The request is sent in this moment."""
        if (leader := self._leaders.get(_beginning(request))) and leader.loop is asyncio.get_running_loop():
            leader.sent.set()


def _beginning(request: object) -> str:
    """Digest of how the prompt begins; empty for one that is too short to be kept, and for what has no prompt."""
    if not isinstance(request, Request):
        return ""
    text = json.dumps([request.model, request.schema, request.tools], sort_keys=True)
    said = "\n".join(f"{message['role']}: {message.get('content') or ''}" for message in request.messages)
    return hashlib.sha256(f"{text}\n{said[:_CHARS]}".encode()).hexdigest() if len(said) >= _CHARS else ""
