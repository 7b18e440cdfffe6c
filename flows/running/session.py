"""A request → everything its stages find around them: store, budget, model door; and the record of the run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flows.running.request import Request, check_out, check_store, question_of
from tasks import stage
from tasks.core.errors import InputError, TablewrightError
from tasks.core.files import store as stores
from tasks.core.files.paths import expand
from tasks.core.files.store import Folder, Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.models.answer import Answer, Question
from tasks.core.models.evidence import Delivery
from tasks.core.models.run import Spend
from tasks.core.models.value import Value
from tasks.core.sandbox import tiers
from tasks.core.sandbox.tiers import Isolation
from tasks.core.settings import Settings, load

_PACKAGES = ("tablewright", "prefect", "duckdb", "litellm", "pydantic")


class Ended(Value):
    """A run that came to its end."""

    run: str
    answer: Answer
    out: str
    """Folder of the answer's files, absolute."""
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """What of the delivery went wrong beside the files."""
    spend: Spend
    seconds: float
    prefect: str = ""
    """Id of the flow run; empty for plain calls."""


@dataclass
class Run:
    """A run under way: what was asked, under which settings, what it spent so far."""

    id: str
    request: Request
    question: Question
    settings: Settings
    store: Store
    meter: Meter
    out: Path
    prefect: str = ""
    isolation: Isolation | None = None
    """Of generated programs; None when the run ended before it was found."""
    answer: Answer | None = None
    began: float = field(default_factory=time.monotonic)
    stages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Wall clock since the start."""
        return round(time.monotonic() - self.began, 3)

    def end(self, answer: Answer, delivery: Delivery) -> Ended:
        """The run's last word."""
        self.answer = answer
        return Ended(
            run=self.id,
            answer=answer,
            out=delivery.folder,
            files=delivery.files,
            warnings=delivery.warnings,
            spend=self.meter.spend(),
            seconds=self.seconds,
            prefect=self.prefect,
        )

    def record(self, status: str, reason: str) -> None:
        """Write `runs/<id>.json` below the store's root."""
        spend = self.meter.spend()
        data = {
            "run": self.id,
            "status": status,
            "reason": reason,
            "seconds": self.seconds,
            "request": self.request.model_dump(mode="json"),
            "question": self.question.model_dump(mode="json"),
            "out": str(self.out),
            "prefect": self.prefect,
            "spend": {"total": spend.total().model_dump(), "stages": [part.model_dump() for part in spend.stages]},
            "stages": self.stages,
            "isolation": self.isolation.model_dump(exclude={"hint"}) if self.isolation else None,
            "versions": versions(),
        }
        self.store.write(f"runs/{self.id}.json", json.dumps(data, ensure_ascii=False, indent=2).encode())


@contextlib.asynccontextmanager
async def session(request: Request, prefect: str = "", today: date | None = None) -> AsyncIterator[Run]:
    """Open a run; stages called inside find its store, its door and its budget. Its record is written at the end.

    `prefect` is the id of the flow run around it, `today` what an open `as_of` means (the machine's day by default).
    Raises InputError for whatever the user must mend before a stage can start.
    """
    question = question_of(request, today or date.today())
    settings = load(request.profile, request.overrides())
    check_model(settings, request.ROLE)
    check_store(request.folder, settings.store.folder)
    block = await _block(settings, prefect)
    store = open_store(settings, block)
    identity = f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    out = expand(request.out).absolute() if request.out else settings.store.folder / request.PLACE / identity
    check_out(request, out)
    meter = Meter(settings.budget)
    run = Run(identity, request, question, settings, store, meter, out, prefect)
    with stores.use(store), door.use(door.Door(settings, store, meter)), _heard(run), _blocked(block):
        try:
            async with _probing(run):
                yield run
        except BaseException as error:
            run.record(_how(error), f"{type(error).__name__}: {error}")
            raise
    run.record(*((run.answer.status, run.answer.reason) if run.answer else ("done", "")))


def open_store(settings: Settings, block: Any = None) -> Store:
    """The store of these settings: their folder, or the given Prefect block.

    Raises InputError when the folder cannot be made or its disk is nearly full.
    """
    folder = settings.store.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free >> 20
    except OSError as error:
        raise InputError(f"cannot use the store's folder {folder}: {error.strerror}", "set store.path") from error
    if free < settings.store.min_free_mb:
        raise InputError(
            f"{free} MB are free on the disk of {folder}, less than store.min_free_mb = {settings.store.min_free_mb}",
            "free some, or set store.path to a folder on another disk",
        )
    if block is None:
        return Store(Folder(folder), folder / "cache")
    from flows.running.storage import files_of

    return Store(files_of(block), folder / "cache")


def check_model(settings: Settings, role: str) -> None:
    """Raise InputError when a role has no model to ask."""
    names = settings.role(role).endpoints
    if not any(settings.endpoints[name].model for name in names):
        raise InputError(
            f"no model is configured: endpoint {names[0]!r} of profile {settings.profile!r} names none",
            "export MODEL_API_URL, MODEL_NAME and MODEL_API_KEY, or use --profile local, which needs no key",
        )


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that shape a result."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def _how(error: BaseException) -> str:
    if isinstance(error, TablewrightError):
        return "failed"
    return "interrupted" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt) else "broken"


async def _block(settings: Settings, prefect: str) -> Any:
    if prefect:
        from flows.running.storage import open_block

        return await open_block(settings.store)
    if settings.store.block:
        raise InputError(
            f"the store is the Prefect block {settings.store.block!r}, and no Prefect server is used",
            f"start the server at {settings.prefect.api_url}, or empty store.block to use a folder",
        )
    return None


@contextlib.asynccontextmanager
async def _probing(run: Run) -> AsyncIterator[None]:
    """Find out what isolates programs here while the run is under way; the first run of a process takes 0.1 s for it."""
    probe = asyncio.create_task(tiers.probe())
    try:
        yield
        await probe
    finally:
        probe.cancel()
        (found,) = await asyncio.gather(probe, return_exceptions=True)
        run.isolation = found if isinstance(found, Isolation) else None


@contextlib.contextmanager
def _heard(run: Run) -> Iterator[None]:
    outer = stage.listener.get()

    def hear(name: str, event: stage.StageEvent, seconds: float) -> None:
        if event != "start":
            run.stages.append({"stage": name, "event": event, "seconds": round(seconds, 3)})
        if outer:
            outer(name, event, seconds)

    token = stage.listener.set(hear)
    try:
        yield
    finally:
        stage.listener.reset(token)


@contextlib.contextmanager
def _blocked(block: Any) -> Iterator[None]:
    token = stage.block.set(block)
    try:
        yield
    finally:
        stage.block.reset(token)
