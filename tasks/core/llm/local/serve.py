"""Settings → base URL of a running server of the local model: started on demand, shared by all runs, stopped when idle."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tasks.core import process
from tasks.core.errors import InputError
from tasks.core.files import lock
from tasks.core.llm.local import weights
from tasks.core.llm.local.server import Order, read_counters
from tasks.core.models.value import Value
from tasks.core.sections import PROJECT, LocalSettings
from tasks.core.settings import Settings, environment

Say = Callable[[str], None]
INSTALL = "in the checkout: make setup, or pip install --no-deps --require-hashes -r requirements.txt"
"""How the library comes."""
_PROBE_SECONDS = 5.0
_POLL_SECONDS = 0.2
_TELL_SECONDS = 10.0
_SLOW = 3.0
"""Tokens a second below which the model is called slow; two free cores give about 20."""
_LOG_CHARS = 1500


class LocalStatus(Value):
    """What is known of the local model without starting it."""

    installed: bool
    """Whether the library that serves it is there."""
    file: str
    """Path of the verified file; empty when it is not there yet."""
    running: bool
    answers: bool = False
    pid: int = 0
    tokens_per_second: float = 0.0
    """Written per second and sample since its start; 0 before the first reply."""
    log: str


@dataclass(frozen=True)
class _Place:
    """Files of the server of one configuration, in the user's cache."""

    state: Path
    held: Path
    starting: Path
    log: Path


async def ensure(settings: Settings, say: Say) -> str:
    """Base URL (ending in `/v1`) of a server that answers; fetches the model and starts the server when needed.

    `say` gets a line on what takes time. Raises InputError with the next step when the library or the file
    cannot be had, or the server does not answer within `local.start_seconds`.
    """
    wanted, place = settings.local, _place(settings.local)
    if url := await _reuse(place, wanted.start_seconds, say):
        return url
    if importlib.util.find_spec("xllamacpp") is None:
        raise InputError("the library that serves the local model is not installed", INSTALL)
    file = await _fetch(wanted, say)
    try:
        place.log.parent.mkdir(parents=True, exist_ok=True)
        turn = await _turn(place)
    except OSError as error:
        raise InputError(f"cannot write to {place.log.parent}: {error}", "free the disk or set local.cache") from error
    try:
        return await _reuse(place, 0, say) or await _start(wanted, place, file, say)
    finally:
        lock.free(turn)


def lives(settings: Settings, url: str) -> bool:
    """Whether the server of these settings still runs at this base URL; it is not asked anything."""
    place = _place(settings.local)
    state = _read(place)
    return lock.holder(place.held) is not None and state is not None and f"{state['url']}/v1" == url


def stop(settings: Settings) -> bool:
    """Stop the server of these settings; False when none runs."""
    place = _place(settings.local)
    pid = lock.holder(place.held)
    while running := lock.holder(place.held):
        process.kill_group(running)
        time.sleep(_POLL_SECONDS / 2)
    place.state.unlink(missing_ok=True)
    return bool(pid)


def status(settings: Settings) -> LocalStatus:
    """Library, file and server of these settings; starts nothing and fetches nothing.

    Raises InputError when `local.file` names a wrong file.
    """
    place = _place(settings.local)
    file, pid, state = weights.find(settings.local), lock.holder(place.held), _read(place)
    counters = None
    if pid and state:
        try:
            counters = _counted(httpx.get(f"{state['url']}/metrics", timeout=_PROBE_SECONDS))
        except httpx.TransportError:
            counters = None
    return LocalStatus(
        installed=importlib.util.find_spec("xllamacpp") is not None,
        file=str(file or ""),
        running=pid is not None,
        answers=counters is not None,
        pid=pid or 0,
        tokens_per_second=_speed(counters or {}),
        log=str(place.log),
    )


async def _turn(place: _Place) -> int:
    while (turn := lock.take(place.starting)) is None:
        await asyncio.sleep(_POLL_SECONDS)
    return turn


async def _fetch(wanted: LocalSettings, say: Say) -> Path:
    """Fetch in a thread; when this task is cancelled the next word of progress ends the download."""
    cancelled = threading.Event()

    def tell(text: str) -> None:
        if cancelled.is_set():
            raise InputError("the download was cancelled", "run again: it goes on from there")
        say(text)

    try:
        return await asyncio.to_thread(weights.fetch, wanted, tell)
    except asyncio.CancelledError:
        cancelled.set()
        raise


async def _reuse(place: _Place, patience: float, say: Say) -> str | None:
    """The running server's URL; None when there is none or it gives no sign for `patience` seconds."""
    until = time.monotonic() + patience
    told = False
    while (pid := lock.holder(place.held)) is not None and (state := _read(place)):
        counters = await _probe(state["url"])
        if counters is not None:
            os.utime(place.state)
            if 0 < (speed := _speed(counters)) < _SLOW:
                say(f"the local model is slow here: {speed:.1f} tokens a second; other programs use the processors")
            return f"{state['url']}/v1"
        if time.monotonic() > until:
            say(f"the local model (process {pid}) gives no sign: starting it anew")
            break
        if not told:
            say(f"the local model (process {pid}) is busy: waiting for it, at most {patience:g} s")
            told = True
    return None


async def _start(wanted: LocalSettings, place: _Place, file: Path, say: Say) -> str:
    if pid := lock.holder(place.held):
        process.kill_group(pid)
    place.state.unlink(missing_ok=True)
    order = Order(
        model=str(file),
        alias=wanted.name,
        slots=wanted.slots,
        context=wanted.context,
        threads=wanted.threads,
        idle_seconds=wanted.idle_seconds,
        state=str(place.state),
        lock=str(place.held),
    )
    say("starting the local model")
    # libgomp's spinning barrier stands still when other programs use the cores: with three of them, no answer in
    # 50 s against 13 s; on a quiet machine 0 costs nothing measurable. It is read when the library is loaded.
    env = environment(GOMP_SPINCOUNT="0")
    argv = [sys.executable, "-m", "tasks.core.llm.local.server", json.dumps(order)]
    with place.log.open("w") as log:
        child = process.start(argv, cwd=PROJECT, stdout=log, stderr=log, env=env)
    try:
        return await _started(wanted, place, child.poll, say)
    except BaseException:
        process.kill_group(child.pid)
        child.wait()
        raise


async def _started(wanted: LocalSettings, place: _Place, poll: Callable[[], int | None], say: Say) -> str:
    began = told = time.monotonic()
    while time.monotonic() - began < wanted.start_seconds:
        await asyncio.sleep(_POLL_SECONDS)
        if poll() is not None:
            raise InputError(
                f"the local model did not start:\n{_tail(place)}",
                f"look into its whole log, {place.log}, or use another model: docs/providers.md",
            )
        if (state := _read(place)) and await _probe(state["url"]) is not None:
            say(f"the local model is ready after {time.monotonic() - began:.1f} s")
            return f"{state['url']}/v1"
        if time.monotonic() - told > _TELL_SECONDS:
            told = time.monotonic()
            say(f"the local model is still loading after {told - began:.0f} s")
    raise InputError(
        f"the local model did not answer within {wanted.start_seconds:g} s:\n{_tail(place)}",
        f"free memory or processors, or raise local.start_seconds; the whole log is {place.log}",
    )


async def _probe(url: str) -> dict[str, float] | None:
    """The counters, which come from the loop that works on requests; None when it does not answer in time."""
    try:
        async with httpx.AsyncClient(timeout=_PROBE_SECONDS) as client:
            return _counted(await client.get(f"{url}/metrics"))
    except httpx.TransportError:
        await asyncio.sleep(_POLL_SECONDS)
        return None


def _counted(response: httpx.Response) -> dict[str, float] | None:
    return read_counters(response.text) if response.is_success else None


def _speed(counters: dict[str, float]) -> float:
    seconds = counters.get("tokens_predicted_seconds_total", 0.0)
    return counters.get("tokens_predicted_total", 0.0) / seconds if seconds else 0.0


def _place(wanted: LocalSettings) -> _Place:
    """One server per model and shape, so that two profiles do not stop each other's."""
    shape = f"{wanted.sha256} {wanted.slots} {wanted.context} {wanted.threads}"
    folder = Path(wanted.cache).expanduser()
    name = f"server-{hashlib.sha256(shape.encode()).hexdigest()[:12]}"
    kinds = (".json", ".lock", ".start", ".log")
    state, held, starting, log = (folder / f"{name}{kind}" for kind in kinds)
    return _Place(state, held, starting, log)


def _read(place: _Place) -> dict[str, Any] | None:
    try:
        state: dict[str, Any] = json.loads(place.state.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return state


def _tail(place: _Place) -> str:
    return place.log.read_text("utf-8", "replace")[-_LOG_CHARS:].strip()
