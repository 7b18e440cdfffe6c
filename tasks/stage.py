"""A pure function → a stage: a Prefect task with our own cache key, or a plain call over the same records.

Prefect's built-in cache policies are not used: INPUTS has no task identity, TASK_SOURCE does not see the
functions that a task calls, DEFAULT never hits in a new run, and each of them turns an input that it cannot
hash into a log line. Here the key is made before Prefect is asked, and what cannot be keyed raises.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import sys
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Generic, Literal, ParamSpec, TypeVar, get_type_hints

from pydantic import BaseModel, TypeAdapter

from tasks.core import timeline
from tasks.core.errors import InputError, ModelError
from tasks.core.files import store as stores
from tasks.core.llm import budget, door
from tasks.core.models.timeline import Span
from tasks.core.models.value import Location

P = ParamSpec("P")
R = TypeVar("R")
THIS = Path(__file__).resolve()
ROOT = THIS.parent
RETRY_SECONDS = (2.0, 8.0)
"""Waits before the second and third try of a stage whose endpoint could not be reached."""

SERIALIZER: dict[str, Any] = {
    "type": "json",
    "object_encoder": None,
    "object_decoder": None,
    "dumps_kwargs": {"ensure_ascii": False, "allow_nan": False},
}
"""Prefect's JSON serializer without its object hooks: they would import and call what a `__class__` key in the
data names, and our data comes from files and models."""

StageEvent = Literal["start", "done", "cached", "retry", "failed"]
listener: ContextVar[Callable[[str, StageEvent, float], None] | None] = ContextVar("listener", default=None)
"""Called with stage name, event and seconds; the command line shows progress with it."""
block: ContextVar[Any] = ContextVar("block", default=None)
"""The saved Prefect file-system block over the store, for records of stages inside a flow."""


class Unsettled(ModelError):
    """Carries a result that holds for this run only past every record; no caller of a stage sees it.

    A stage marks such a result by a field `unsettled` that is not empty: what a budget or a dead endpoint cut
    short must not answer the next run. A transient one is tried again first.
    """

    def __init__(self, message: str, value: Any, transient: bool) -> None:
        super().__init__(message, transient=transient)
        self.value = value

    def __reduce__(self) -> tuple[type[Unsettled], tuple[str, Any, bool]]:  # type: ignore[override]
        return type(self), (self.message, self.value, self.transient)


@dataclass(eq=False)
class Stage(Generic[P, R]):
    """A stage: call it like the function it wraps."""

    function: Callable[P, Coroutine[Any, Any, R]]
    name: str
    roles: tuple[str, ...]
    prompts: tuple[Path, ...]
    fresh: bool

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        run = self._in_prefect if _inside_flow() else self._plain
        adapter: TypeAdapter[R] = _adapter(self.function)
        tell = _begin(self.name)
        executed = False

        async def body() -> Any:
            nonlocal executed
            executed = True
            if not self.fresh:
                door.warm()
            with budget.stage(self.name):
                result = await self.function(*args, **kwargs)
            value = adapter.dump_python(result, mode="json")
            json.dumps(value, allow_nan=False)  # what no record can hold raises here, in Prefect it would be a log line
            if cause := getattr(result, "unsettled", ""):
                raise Unsettled(f"ended before its work was done: {cause}", value, transient=cause == "transient")
            return value

        try:
            value = await run(body, None if self.fresh else self.record(*args, **kwargs))
        except Unsettled as stop:
            tell("failed")
            return adapter.validate_python(stop.value)
        except BaseException:
            tell("failed")
            raise
        tell("done" if executed else "cached")
        return adapter.validate_python(value)

    def record(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Path of the record of this call below the store's root; equal calls have equal paths."""
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        parts = {
            "stage": self.name,
            "code": code_digest(Path(inspect.getfile(self.function)).parent),
            "prompts": [path.read_text("utf-8") for path in self.prompts],
            "roles": {role: door.current().identity(role) for role in self.roles},
            "inputs": {name: _keyed(value) for name, value in bound.arguments.items()},
        }
        text = json.dumps(parts, sort_keys=True, allow_nan=False)
        return f"records/{self.name}/{hashlib.sha256(text.encode()).hexdigest()}.json"

    async def _plain(self, body: Callable[[], Awaitable[Any]], record: str | None) -> Any:
        if record and (found := _read_record(record, _adapter(self.function))) is not None:
            return found[0]
        for wait in (*RETRY_SECONDS, None):
            try:
                value = await body()
                break
            except ModelError as error:
                if error.unsettled != "transient" or wait is None:
                    raise
                _tell(self.name, "retry", wait)
                await asyncio.sleep(wait)
        if record:
            _write_record(record, value)
        return value

    async def _in_prefect(self, body: Callable[[], Awaitable[Any]], record: str | None) -> Any:
        from prefect import task
        from prefect.cache_policies import NO_CACHE
        from prefect.serializers import JSONSerializer

        options: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}
        if record:
            options = {
                "cache_key_fn": lambda *_: record,
                "persist_result": True,
                "result_serializer": JSONSerializer(**SERIALIZER),
                "result_storage": block.get(),
                "refresh_cache": _read_record(record, _adapter(self.function)) is None,
            }
        run = task(
            name=self.name,
            description=inspect.getdoc(self.function),
            task_run_name=self.name,
            retries=len(RETRY_SECONDS),
            retry_delay_seconds=list(RETRY_SECONDS),
            retry_condition_fn=self._worth_a_retry,
            **options,
        )(_unrecorded_when_failed(body))
        value = await run()
        if record and _read_record(record, _adapter(self.function)) is None:
            raise InputError(
                f"the result of stage {self.name!r} could not be stored",
                "look for disk space and rights in the store's folder; `tablewright doctor` checks both",
            )
        return value

    def _worth_a_retry(self, _task: Any, run: Any, state: Any) -> bool:
        error = state.data
        transient = isinstance(error, ModelError) and error.unsettled == "transient"
        if transient:
            _tell(self.name, "retry", RETRY_SECONDS[min(run.run_count, len(RETRY_SECONDS)) - 1])
        return transient


def stage(
    *, roles: tuple[str, ...] = (), prompts: tuple[str, ...] = (), fresh: bool = False
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Stage[P, R]]:
    """Make an async function of values a stage, named for its function.

    `roles` are those whose model it asks and `prompts` the files beside it that it reads: both are in its key.
    `fresh` stages observe the world (a folder) or deliver to it, so they run every time.
    """

    def wrap(function: Callable[P, Coroutine[Any, Any, R]]) -> Stage[P, R]:
        folder = Path(inspect.getfile(function)).parent
        return Stage(function, function.__name__, roles, tuple(folder / "prompts" / name for name in prompts), fresh)

    return wrap


def canonical(value: Any) -> Any:
    """A value as JSON data with a stable form; raises TypeError for what has none.

    Fields marked `Location` are left out, so that a folder may move.
    """
    if isinstance(value, BaseModel):
        return {"model": type(value).__name__, **{n: canonical(getattr(value, n)) for n in _kept(type(value))}}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, tuple | list):
        return [canonical(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: canonical(item) for key, item in value.items()}}
    raise TypeError(f"{type(value).__name__} cannot be an input of a stage: it has no stable form")


_digests: dict[int, tuple[weakref.ref[BaseModel], str]] = {}
"""Of frozen models by their id, as long as they live: a large one is an input of many stages."""


def _keyed(value: Any) -> Any:
    """An input in its canonical form, with digests in place of frozen models that it is, or is a sequence of."""
    if isinstance(value, tuple | list):
        return [_keyed(item) for item in value]
    return {"digest": _digest(value)} if _is_frozen(value) else canonical(value)


def _digest(value: BaseModel) -> str:
    """Of a frozen model, made once for each object; from those of the models that are fields of it."""
    key = id(value)
    known = _digests.get(key)
    if known and known[0]() is value:
        return known[1]
    fields = ((name, getattr(value, name)) for name in _kept(type(value)))
    parts = {name: {"digest": _digest(part)} if _is_frozen(part) else canonical(part) for name, part in fields}
    text = json.dumps({"model": type(value).__name__, **parts}, sort_keys=True, allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    _digests[key] = (weakref.ref(value, lambda _: _digests.pop(key, None)), digest)
    return digest


def _is_frozen(value: Any) -> bool:
    return isinstance(value, BaseModel) and bool(type(value).model_config.get("frozen"))


@functools.cache
def _kept(model: type[BaseModel]) -> tuple[str, ...]:
    """Names of the fields that belong to a key."""
    return tuple(name for name, field in model.model_fields.items() if not _is_location(field.metadata))


@functools.cache
def code_digest(package: Path) -> str:
    """Digest of the Python source of a package, of `tasks/core` and of this file."""
    digest = hashlib.sha256()
    for folder, paths in ((package, package.rglob("*.py")), (ROOT, (ROOT / "core").rglob("*.py")), (ROOT, [THIS])):
        for path in sorted(paths):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def _adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(function)["return"])


def _is_location(metadata: list[Any]) -> bool:
    return any(isinstance(mark, Location) for mark in metadata)


def _inside_flow() -> bool:
    """Whether a Prefect flow run is under way; Prefect is not imported to find out."""
    context = sys.modules.get("prefect.context")
    return bool(context and context.FlowRunContext.get())


def _begin(name: str) -> Callable[[StageEvent], None]:
    """A stage begins; the result tells how it ended. Both are told to the listener, and noted in the run's timeline."""
    started, recorder = time.monotonic(), timeline.current()
    number = recorder.begin(Span(stage=name)) if recorder else 0
    _tell(name, "start", 0.0)

    def end(event: StageEvent) -> None:
        if recorder:
            recorder.end(number, outcome=event)
        _tell(name, event, time.monotonic() - started)

    return end


def _tell(name: str, event: StageEvent, seconds: float) -> None:
    if hear := listener.get():
        hear(name, event, seconds)


def _unrecorded_when_failed(body: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """Prefect stores the exception of a task that persists its result, in a file that nobody reads or deletes."""

    async def run() -> Any:
        from prefect.context import TaskRunContext

        try:
            return await body()
        except BaseException:
            if context := TaskRunContext.get():
                context.persist_result = False
            raise

    return run


def _read_record(record: str, adapter: TypeAdapter[Any]) -> tuple[Any] | None:
    """The value in a tuple, so that a stored None is told from a miss; a torn file, or another's value, is a miss."""
    data = stores.current().fetch(record)
    if data is None:
        return None
    try:
        value = json.loads(json.loads(data)["result"])
        adapter.validate_python(value)
    except (ValueError, KeyError, TypeError):
        return None
    return (value,)


def _write_record(record: str, value: Any) -> None:
    """In the form that Prefect's result store reads: serialized text inside its envelope."""
    text = json.dumps(value, **SERIALIZER["dumps_kwargs"])
    envelope = {"metadata": {"storage_key": record, "serializer": SERIALIZER}, "result": text}
    stores.current().write(record, json.dumps(envelope, ensure_ascii=False).encode())
    stores.current().fetch(record)  # what it names was made before it, and must not be older
