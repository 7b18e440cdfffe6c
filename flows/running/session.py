"""A request → everything its stages find around them: store, budget, model door; and the record of the run."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import platform
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import Field

from flows.running import server
from flows.running.kept import kept
from flows.running.observed import observing
from flows.running.record import RUNNING, RunRecord, Spent, alive, find, living, names, read, shaping
from flows.running.request import Request, check_out, check_store, question_of
from flows.running.spent import sum_of
from tasks import stage
from tasks.core import timeline
from tasks.core.errors import InputError, TablewrightError
from tasks.core.files import store as stores
from tasks.core.files.paths import expand
from tasks.core.files.store import Folder, Store
from tasks.core.llm import door
from tasks.core.llm.budget import Meter
from tasks.core.llm.endpoints import nameless
from tasks.core.models.answer import Answer, Question
from tasks.core.models.evidence import Delivery
from tasks.core.models.run import Spend
from tasks.core.models.source import ArtifactRef
from tasks.core.models.value import Value
from tasks.core.sandbox import tiers
from tasks.core.sandbox.tiers import Isolation
from tasks.core.settings import Settings, load

_ENDING = 8
"""Characters of a flow run's id that its run's id ends with."""
begun: ContextVar[list[str] | None] = ContextVar("begun", default=None)
"""Gets the id of each run that is opened; the command line names it when it is interrupted."""
_PACKAGES = ("tablewright", "prefect", "duckdb", "litellm", "pydantic")


class Ended(Value):
    """A run that came to its end."""

    run: str
    answer: Answer
    out: str
    """Folder of the answer's files, absolute."""
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """What a reader should know beside the answer, and what of the delivery went wrong beside the files."""
    spend: Spend
    seconds: float
    prefect: str = ""
    """Id of the flow run; empty for plain calls."""
    kept: dict[str, ArtifactRef] = Field(default_factory=dict)
    """The answer's files in the store, by name."""


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
    shelf: ArtifactRef | None = None
    """What the folder holds, kept for further questions."""
    ended: ArtifactRef | None = None
    """Its last word, of a flow run."""
    timeline: ArtifactRef | None = None
    """What it did and when; None while it is under way."""
    warnings: tuple[str, ...] = ()
    """What its reader should know beside the answer."""
    began: float = field(default_factory=time.monotonic)
    stages: list[dict[str, Any]] = field(default_factory=list)
    earlier: RunRecord | None = None
    """Of the last try, when this is not the first."""
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    status: str = RUNNING
    reason: str = ""
    outcome: tuple[str, str] = ("done", "")
    """Status and reason of a run that came to its end without an answer."""
    written: float = 0.0
    """When the record was last written, by the monotonic clock."""

    @property
    def seconds(self) -> float:
        """Wall clock since the start."""
        return round(time.monotonic() - self.began, 3)

    def end(self, answer: Answer, delivery: Delivery) -> Ended:
        """The run's last word."""
        self.answer = answer
        ended = Ended(
            run=self.id,
            answer=answer,
            out=delivery.folder,
            files=delivery.files,
            warnings=(*self.warnings, *delivery.warnings),
            spend=self.meter.spend(),
            seconds=self.seconds,
            prefect=self.prefect,
            kept=delivery.kept,
        )
        if self.prefect:  # whoever waits for it may sit at another machine
            self.ended = self.store.put(ended.model_dump_json().encode(), "ended.json")
        return ended

    def record(self, status: str, reason: str = "") -> None:
        """Write `runs/<id>.json` below the store's root, with what earlier tries of the run took."""
        before = self.earlier
        prefect = self.prefect or (before.prefect if before else "")
        spend = Spent.of(sum_of(Spend(stages=before.spend.stages if before else ()), self.meter.spend()))
        self.written, self.status, self.reason = time.monotonic(), status, reason
        RunRecord(
            run=self.id,
            flow=self.request.FLOW,
            status=status,
            reason=reason,
            began=(before.began if before else "") or self.started,
            seconds=round(self.seconds + (before.seconds if before else 0), 3),
            tries=1 + (before.tries if before else 0),
            machine=platform.node(),
            process=os.getpid(),
            request=self.request.model_dump(mode="json", exclude={"run"}),
            question=self.question,
            settings=shaping(self.settings),
            out=str(self.out),
            prefect=prefect,
            untold=bool(prefect) and status != RUNNING,
            table=self.answer.table.file if self.answer and self.answer.table else None,
            shelf=self.shelf or (before.shelf if before else None),
            ended=self.ended,
            warnings=self.warnings,
            spend=spend,
            stages=tuple(self.stages),
            timeline=self.timeline,
            isolation=self.isolation.model_dump(exclude={"hint"}) if self.isolation else None,
            versions=versions(),
        ).save(self.store)


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
    with stores.use(store), _named(store, request, prefect) as (identity, earlier), _blocked(block):
        out = expand(request.out).absolute() if request.out else settings.store.folder / request.PLACE / identity
        check_out(request, out)
        question = earlier.question if earlier else question
        run = Run(identity, request, question, settings, store, Meter(settings.budget), out, prefect, earlier=earlier)
        run.record(RUNNING)
        if (told := begun.get()) is not None:
            told.append(run.id)
        with observing(run), door.use(door.Door(settings, store, run.meter)):
            try:
                with _timed(run):
                    async with _probing(run), kept(run):
                        yield run
            except BaseException as error:
                run.record(_how(error), f"{type(error).__name__}: {error}")
                raise
            run.record(*((run.answer.status, run.answer.reason) if run.answer else run.outcome))


@contextlib.contextmanager
def _named(store: Store, request: Request, prefect: str) -> Iterator[tuple[str, RunRecord | None]]:
    """The run's id and the record of its last try, if this is another one; held as long as the block lasts.

    A flow run that is retried goes on with its run. Raises InputError when the run to go on with is not there, or under way.
    """
    earlier = find(store, request.run) if request.run else _retried(store, prefect)
    with contextlib.ExitStack() as held:
        if earlier and not held.enter_context(living(store, earlier.run)):
            if request.run:
                raise InputError(
                    f"run {earlier.run} is under way, in process {alive(store, earlier.run) or 'unknown'}",
                    "wait for its end, or stop that process first",
                )
            earlier = None
        identity = earlier.run if earlier else _new_id(prefect)
        if not earlier:
            held.enter_context(living(store, identity))
        yield identity, earlier


def ending_of(prefect: str) -> str:
    """What the id of a run ends with, of the id of its flow run."""
    return prefect[-_ENDING:]


def _new_id(prefect: str) -> str:
    """Sorts by time, to a millisecond; of a flow run it ends as the flow run's own id does, so that a retry finds it."""
    now = datetime.now()
    return f"{now:%Y%m%d-%H%M%S}{now.microsecond // 1000:03}-{ending_of(prefect) or secrets.token_hex(4)}"


def _retried(store: Store, prefect: str) -> RunRecord | None:
    if not prefect:
        return None
    with contextlib.suppress(InputError):  # where files cannot be listed a retry is a run of its own
        for name in names(store):
            if name.endswith(ending_of(prefect)) and (found := read(store, name)) and found.prefect == prefect:
                return found
    return None


def open_store(settings: Settings, block: Any = None) -> Store:
    """The store of these settings: their folder, or the given Prefect block.

    Raises InputError when the folder cannot be made or its disk is nearly full.
    """
    folder = settings.store.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free >> 20
    except OSError as error:
        raise InputError(
            f"cannot use the store's folder {folder}: {error.strerror}",
            "set TABLEWRIGHT_STORE or store.path to a folder that can be written to",
        ) from error
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
            nameless(names[0]),
        )


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that shape a result."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def _how(error: BaseException) -> str:
    if isinstance(error, TablewrightError):
        return "failed"
    return "interrupted" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt) else "broken"


async def _block(settings: Settings, prefect: str) -> Any:
    if not prefect and not settings.store.block:
        return None
    from flows.running.storage import is_url, open_block

    if not prefect and not is_url(settings.store.block):
        check_server(settings)
    return await open_block(settings.store, saved=bool(prefect))


def check_server(settings: Settings) -> None:
    """Raise InputError when no server answers that could say where the block is; Prefect would start one of its own."""
    if not server.reach(settings.prefect):
        raise InputError(
            f"the store is the Prefect block {settings.store.block!r}, and no Prefect server answers at {settings.prefect.api_url}",
            "start the server, or set store.block to the store's URL, or empty it to use a folder",
        )


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
def _timed(run: Run) -> Iterator[None]:
    """Keep the run's timeline in its store; one that takes nothing will be heard of by the record."""
    slots = {name: run.settings.endpoint(name).concurrency for name in run.settings.endpoints}
    with timeline.recording() as recorder:
        try:
            yield
        finally:
            with contextlib.suppress(InputError):
                run.timeline = run.store.put(recorder.closed(slots).model_dump_json().encode(), "timeline.json")


@contextlib.contextmanager
def _blocked(block: Any) -> Iterator[None]:
    token = stage.block.set(block)
    try:
        yield
    finally:
        stage.block.reset(token)
