"""Order of a model server (JSON in argv) → an OpenAI-compatible server on loopback, until nobody asks any more.

It holds a lock as long as it lives and writes its address once it listens; `serve.py` starts it and reads both.
The address holds a random path, so that no web page and no leftover address reaches it by chance.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, TypedDict

from tasks.core.files import lock

_BATCH_TOKENS = 512
"""Read at once; smaller than the library's 2048, so that a long prompt does not keep the health check waiting."""
_CACHE_MB = 1024
"""Memory for prompts of earlier requests; the library would take 8192."""
_LOCK_TRIES = 50
"""0.1 s apart; somebody may look at the lock, or its last holder be dying."""
_LOOKS = 20
"""Looks at the counters per idle period."""


class Order(TypedDict):
    """What to serve, and where to say so."""

    model: str
    alias: str
    slots: int
    context: int
    threads: int
    idle_seconds: float
    state: str
    lock: str


def main() -> None:
    """Serve until the model has been idle for the ordered seconds, or the state file is gone."""
    order: Order = json.loads(sys.argv[1])
    _take(Path(order["lock"]))
    prefix = f"/{secrets.token_urlsafe(12)}"
    server = _load(order, prefix)
    url = server.listening_address + prefix
    state = Path(order["state"])
    _write(state, {"url": url, "pid": os.getpid(), "started": time.time()})
    _watch(url, state, order["idle_seconds"])
    os._exit(0)  # the library's own shutdown waits for open connections


def _take(path: Path) -> None:
    for _ in range(_LOCK_TRIES):
        if lock.take(path) is not None:
            return
        time.sleep(0.1)
    sys.exit("another server holds the lock")


def _load(order: Order, prefix: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["model"]
    params.model_alias = {order["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_prefix = prefix
    params.n_parallel = order["slots"]
    params.n_ctx = order["slots"] * order["context"]
    params.n_batch = _BATCH_TOKENS
    params.cache_ram_mib = _CACHE_MB
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"] or os.cpu_count() or 1
    params.endpoint_metrics = True
    params.ui = False
    return xllamacpp.Server(params)


def _watch(url: str, state: Path, idle_seconds: float) -> None:
    """Return when no token was read or written and no run came by (it touches the state file) for so long."""
    seen: object = None
    since = time.monotonic()
    while time.monotonic() - since < idle_seconds:
        time.sleep(idle_seconds / _LOOKS)
        try:
            touched = state.stat().st_mtime_ns
            now = (touched, _counters(url))
        except FileNotFoundError:
            return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            continue
        if now != seen or now[1].get("requests_processing"):
            seen, since = now, time.monotonic()
    state.unlink(missing_ok=True)


def _counters(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as response:
        return read_counters(response.read().decode())


def read_counters(text: str) -> dict[str, float]:
    """The server's own counters from its metrics page, those that only grow and the requests under way."""
    pairs = (line.removeprefix("llamacpp:").split() for line in text.splitlines() if line.startswith("llamacpp:"))
    return {p[0]: float(p[1]) for p in pairs if p[0].endswith("_total") or p[0] == "requests_processing"}


def _write(state: Path, content: dict[str, Any]) -> None:
    draft = state.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(content), "utf-8")
    draft.replace(state)


if __name__ == "__main__":
    main()
