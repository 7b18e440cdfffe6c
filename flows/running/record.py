"""A run → `runs/ID.json` in its store from its first moment on, and whether its process lives; all of them, the newest first."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from flows.running.request import AnswerRequest, DocumentRequest, Request
from tasks.core.errors import InputError
from tasks.core.files import lock
from tasks.core.files.store import Store
from tasks.core.models.answer import Question
from tasks.core.models.run import Spend, StageSpend
from tasks.core.models.source import ArtifactRef
from tasks.core.settings import Settings

PLACE = "runs"
_LOOKS = 20
RUNNING, ORPHANED = "running", "orphaned"
_ORPHANED = "its process ended before the run did; `tablewright resume {run}` goes on with it"


class Spent(BaseModel):
    """Model calls of all tries of a run."""

    model_config = ConfigDict(frozen=True)

    total: StageSpend = StageSpend(stage="total")
    stages: tuple[StageSpend, ...] = ()

    @classmethod
    def of(cls, spend: Spend) -> Spent:
        """With their sum."""
        return cls(total=spend.total(), stages=spend.stages)


class RunRecord(BaseModel):
    """What is kept of a run. Fields that another version wrote are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run: str
    flow: Literal["answer", "document"] = "answer"
    status: str
    """`running`, `orphaned` (its process is gone), that of its answer or its documents (`done`, `partial`, `failed`), `failed`, `interrupted` or `broken`."""
    reason: str = ""
    began: str = ""
    """UTC, ISO 8601: of the first try."""
    seconds: float = 0.0
    """Wall clock of all tries."""
    tries: int = 1
    machine: str = ""
    process: int = 0
    request: dict[str, Any]
    question: Question
    settings: str = ""
    """Digest of the settings that shape a result."""
    out: str
    prefect: str = ""
    """Id of its flow run."""
    untold: bool = False
    """Whether nobody has seen yet that the Prefect server knows how it ended: it may have been away."""
    table: ArtifactRef | None = None
    """The answer's table."""
    shelf: ArtifactRef | None = None
    """What the run found in its folder; None until it has read it, and of documents alone."""
    ended: ArtifactRef | None = None
    """Of a flow run: what it gave, for those who wait for it elsewhere."""
    warnings: tuple[str, ...] = ()
    """What a reader should know beside the answer, such as files that changed meanwhile."""
    spend: Spent = Spent()
    stages: tuple[dict[str, Any], ...] = ()
    """Those of the last try that ended, with what became of each and its seconds."""
    timeline: ArtifactRef | None = None
    """What the last try did and when; None until it has ended."""
    isolation: dict[str, Any] | None = None
    versions: dict[str, str] = {}

    def asked(self) -> Request:
        """The same request once more, as of the same day and into the same folder: another try of this run.

        Raises InputError for a question of a benchmark, which has a model and a repeat of its own.
        """
        if "repeat" in self.request:
            raise InputError(
                f"run {self.run} is a question of a benchmark", "let that one go on: tablewright benchmark run --run …"
            )
        kind = DocumentRequest if self.flow == "document" else AnswerRequest
        return kind.model_validate({**self.request, "as_of": self.question.as_of, "out": self.out, "run": self.run})

    def save(self, store: Store) -> None:
        """Write it. Raises InputError when the store takes nothing."""
        store.write(f"{PLACE}/{self.run}.json", self.model_dump_json(indent=2).encode())


def read(store: Store, run: str) -> RunRecord | None:
    """The record of a run; None when there is none, or it is no record."""
    data = store.read(f"{PLACE}/{run}.json")
    try:
        return RunRecord.model_validate_json(data) if data else None
    except ValidationError:
        return None


def find(store: Store, run: str) -> RunRecord:
    """The record of a run by its id, or by the start of it that no other has. Raises InputError when there is none."""
    if found := read(store, run) if "/" not in run else None:
        return found
    near = [name for name in names(store) if name.startswith(run)]
    if len(near) == 1 and (found := read(store, near[0])):
        return found
    said = f"{len(near)} runs begin with" if near else "there is no run"
    raise InputError(f"{said} {run!r} in the store", "`tablewright runs` lists them")


def names(store: Store) -> list[str]:
    """Ids of all runs, the newest first. Raises InputError where the store's place cannot list its files."""
    found = (name.removesuffix(".json") for name in store.names(PLACE) if name.endswith(".json"))
    return sorted((name for name in found if not name.startswith(".")), reverse=True)


def all_of(store: Store) -> Iterator[RunRecord]:
    """Every record that can be read, the newest first."""
    yield from filter(None, (read(store, name) for name in names(store)))


def alive(store: Store, run: str) -> int | None:
    """Process id of the run while it is under way on this machine, or on one that shares the store's folder; else None."""
    return lock.holder(_lock(store, run))


def left(record: RunRecord) -> bool:
    """Whether the process that ran it was one of this machine and is gone, so that it tells nobody any more."""
    if record.machine != platform.node():
        return False
    try:
        os.kill(record.process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def settle(store: Store, record: RunRecord) -> RunRecord:
    """The record, marked as orphaned when it says `running` and its process on this machine is gone.

    Of a run on another machine nobody here can say so.
    """
    if record.status != RUNNING or record.machine != platform.node() or alive(store, record.run) is not None:
        return record
    now = read(store, record.run)  # it may have ended between the two looks
    if now is None or now.status != RUNNING:
        return now or record
    changes = {"status": ORPHANED, "reason": _ORPHANED.format(run=now.run), "untold": bool(now.prefect)}
    marked = now.model_copy(update=changes)
    marked.save(store)
    return marked


@contextlib.contextmanager
def living(store: Store, run: str) -> Iterator[bool]:
    """Say that the run is under way, as long as the block and this process last; False when another process says so."""
    path, descriptor = _lock(store, run), None
    taken = True
    with contextlib.suppress(OSError):  # where no lock can be written, runs go on without
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(_LOOKS):
            if (descriptor := lock.take_named(path)) is not None or lock.holder(path) is not None:
                break
            time.sleep(0.01)  # whoever looks for the holder holds it for a moment
        taken = descriptor is not None
    try:
        yield taken
    finally:
        if descriptor is not None:
            path.unlink(missing_ok=True)
            lock.free(descriptor)


def shaping(settings: Settings) -> str:
    """Digest of the settings that shape a result, so that another try can say when they are others."""
    aside: Any = {
        "profile": True, "store": True, "prefect": True, "batch": True, "local": True, "retry": True, "budget": True,
        "log": True, "traces": True, "machines": True,
        "endpoints": {"__all__": {"url", "concurrency", "api_key_env", "prefix_seconds"}},
        "roles": {"__all__": {"first"}},
    }  # fmt: skip
    return hashlib.sha256(settings.model_dump_json(exclude=aside).encode()).hexdigest()


def _lock(store: Store, run: str) -> Path:
    return store.cache / "living" / run
