"""Endpoint settings → what this process knows of each endpoint, and which one takes the next request."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from tasks.core.asking import EndpointSettings
from tasks.core.errors import InputError
from tasks.core.llm import calls
from tasks.core.llm.prefixes import Prefixes
from tasks.core.masking import splits_password

_VARIABLES = {"url": "MODEL_API_URL", "model": "MODEL_NAME"}
"""Of the endpoint `main`, in the environment."""
_VERSIONLESS = ("anthropic", "ollama", "ollama_chat")
"""Providers whose path litellm adds from the version on."""


_Entry = tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]


class Gate:
    """At most `size` holders at once, across all event loops and threads of this process; first come, first served, among
    those who go first and then among the others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._lock = threading.Lock()
        self._inside = 0
        self._first: deque[_Entry] = deque()
        self._waiting: deque[_Entry] = deque()

    @property
    def load(self) -> int:
        """Holders and those who wait."""
        return self._inside + len(self._first) + len(self._waiting)

    async def __aenter__(self) -> None:
        await self.enter()

    async def enter(self, first: bool = False) -> None:
        """Wait for a place; `first`: before those who did not say so."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._inside < self.size:
                self._inside += 1
                return
            entry, line = (loop, loop.create_future()), self._first if first else self._waiting
            line.append(entry)
        try:
            await entry[1]
        except BaseException:
            with self._lock:
                given = entry not in line
                if not given:
                    line.remove(entry)
            if given:
                self.leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Give the place to the next in line."""
        with self._lock:
            while line := self._first or self._waiting:
                loop, future = line.popleft()
                with contextlib.suppress(RuntimeError):  # that loop was closed; the next in line gets the place
                    loop.call_soon_threadsafe(_wake, future)
                    return
            self._inside -= 1


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Endpoint:
    """One endpoint as this process knows it: who is in, what it does not support, whether it is well."""

    def __init__(self, name: str, settings: EndpointSettings) -> None:
        self.name = name
        self.settings = settings
        self.gate = Gate(settings.concurrency)
        self.prefixes = Prefixes()
        self.without: frozenset[str] = frozenset()
        """Request fields that it has rejected; they are not sent again."""
        self.served = 0
        self._cool_until = 0.0
        self._closed_until = 0.0
        self._refuses = False
        self.given_up = False
        """Nothing was found there in all tries of a request: the next ones try once."""

    def __str__(self) -> str:
        url = without_secrets(base_url(self.settings)) if self.settings.url else ""
        place = "on this machine" if self.settings.serve else url
        return f"endpoint {self.name!r} ({', '.join(part for part in (place, self.settings.model) if part)})"

    def setting(self, what: str) -> str:
        """Where the user sets its `url`, `model` or `api_key_env`."""
        if self.name == "main" and what in _VARIABLES:
            return _VARIABLES[what]
        if "." in self.name:  # it stands in a section of its own, as recall.embedding
            return {"url": f"{self.name}_url", "model": self.name}.get(what, f"{self.name}_key_env")
        return f"endpoints.{self.name}.{what}"

    def trouble(self, cool: float, wait: float | None, refuses: bool = False) -> None:
        """It failed: prefer others for `cool` seconds, and send nothing for the `wait` seconds it asked for.

        `refuses`: it took no connection, and that at once.
        """
        now = time.monotonic()
        self._refuses, self.given_up = refuses, self.given_up and refuses
        self._cool_until = now + max(cool, wait or 0.0)
        self._closed_until = now + (wait or 0.0)

    def well(self) -> None:
        """It answered."""
        self.served += 1
        self._cool_until = self._closed_until = 0.0
        self._refuses = self.given_up = False

    @property
    def absent(self) -> bool:
        """Nothing has answered there in this process, and the last connection was refused at once."""
        return self._refuses and not self.served

    @property
    def cool_seconds(self) -> float:
        """Seconds for which others are preferred; 0 when it is well."""
        return max(0.0, self._cool_until - time.monotonic())

    @property
    def closed_seconds(self) -> float:
        """Seconds that it has asked to be left alone."""
        return max(0.0, self._closed_until - time.monotonic())


_known: dict[tuple[str, EndpointSettings], Endpoint] = {}
_lock = threading.Lock()


def known(name: str, settings: EndpointSettings) -> Endpoint:
    """This process's one endpoint of that name and settings."""
    with _lock:
        return _known.setdefault((name, settings), Endpoint(name, settings))


@contextlib.asynccontextmanager
async def take(choices: list[Endpoint], first: bool = False) -> AsyncIterator[Endpoint]:
    """The well endpoint with the fewest requests in flight, else the one that is well soonest; waits for its gate, `first` as there."""
    well = [endpoint for endpoint in choices if not endpoint.cool_seconds]
    if well:
        chosen = min(well, key=lambda endpoint: (endpoint.gate.load, endpoint.served))
    else:
        chosen = min(choices, key=lambda endpoint: (endpoint.closed_seconds > 0, endpoint.cool_seconds))
    with calls.waiting("slot"):
        await chosen.gate.enter(first)
    try:
        yield chosen
    finally:
        chosen.gate.leave()


def base_url(settings: EndpointSettings) -> str:
    """The URL that requests go below: for an OpenAI-compatible server with its version (`/v1` when none is given)."""
    url = settings.url.strip().rstrip("/")
    if settings.provider in _VERSIONLESS:
        return url.removesuffix("/v1")
    if settings.provider or not url:
        return url
    url = re.sub(r"/(chat/)?completions$", "", url)
    parts = urlsplit(url)
    return url if not parts.netloc or re.search(r"/v\d+[a-z]*(/|$)", parts.path) else f"{url}/v1"


def nameless(name: str) -> str:
    """The next step where an endpoint has no model."""
    local = "or use --profile local, which needs no key"
    if name == "main":
        return f"export MODEL_API_URL, MODEL_NAME and MODEL_API_KEY, {local}"
    return f"set endpoints.{name}.model and its url in the profile, {local}"


def check_url(endpoint: Endpoint) -> None:
    """Raise InputError for a URL that no request can go to, or that holds a password; empty ones are the provider's own."""
    url = endpoint.settings.url.strip()
    if not url:
        return
    setting = endpoint.setting("url")
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0  # raises for no number
        named = parts.username is not None or parts.password is not None or splits_password(url)
        shown = without_secrets(url)
    except ValueError:  # no host can be read from it
        fits, named, shown = False, False, "it cannot be read"
    if not fits:
        raise InputError(f"endpoint {endpoint.name!r} has no http or https URL: {shown}", f"set {setting} to one")
    if named:
        raise InputError(
            f"the URL of endpoint {endpoint.name!r} holds a user or password, which are not sent",
            f"put a key into the variable that {endpoint.setting('api_key_env')} names, and take them out of {setting}; "
            "an @ of the path is written %40",
        )


def without_secrets(url: str) -> str:
    """A URL as messages may show it: no user, password, query or fragment. One without a host as it was written, else.

    Where an `@` stands behind the host, what looks like the host may be the beginning of a password with `/`, `?` or `#` in it.
    """
    parts = urlsplit(url)
    if splits_password(url):
        return "it"
    if not parts.netloc:
        shown = url.rpartition("@")[2]
        return "it" if shown != url and re.search("[?#]", url) else re.split("[?#]", shown)[0]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
