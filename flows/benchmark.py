"""suites of tasks with gold × setups → scores, σ, cost, and which tasks moved since the last accepted run."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flows.batch import Board
from flows.running.grid import BenchmarkRequest, place
from flows.running.plan import places
from flows.running.rows import Row
from flows.running.session import check_model, versions
from flows.running.spread import started, submitted
from flows.running.trial import Planned, read_trial, run_trial
from tasks.artifacts import Gauge
from tasks.benchmark.accepted import accept, baseline
from tasks.benchmark.figures import take_figures
from tasks.benchmark.measure import score_trials
from tasks.benchmark.report import write_report
from tasks.benchmark.results import save
from tasks.benchmark.suite import open_suite
from tasks.core.errors import InputError
from tasks.core.files.store import Folder
from tasks.core.models.benchmark import Benchmark, Suite, Trial
from tasks.core.models.value import Value
from tasks.core.settings import Settings, load

STARTED = "run.json"


async def benchmark(
    request: BenchmarkRequest, run: str, today: date, board: Board | None = None, prefect: str = ""
) -> Benchmark:
    """Ask every question under every setup, score what came, and write the report; `run` names the run's folder.

    A run that was cut short goes on: trials that ended are read. `prefect` is the id of the flow run around it.
    Raises InputError for what must be mended before the first question: suites, gold, profiles, folders.
    """
    folder = request.folder / run
    suites = await _open(request)
    started = _started(folder, request, today)
    planned = request.planned(folder, suites, started.today)
    _check_models(planned)
    _write(folder, started)
    began = time.monotonic()
    trials = await _ask(planned, request, board, prefect)
    if not trials:
        raise InputError(
            f"no question began within deadline = {request.deadline:g} s", f"--run {run} goes on; give it more"
        )
    _write(folder, started.model_copy(update={"seconds": started.seconds + time.monotonic() - began}))
    return await _conclude(request, folder, suites, trials, len(planned) - len(trials))


async def report(folder: Path, **changes: Any) -> Benchmark:
    """What a run has by now, scored and written anew; no question is asked. `changes` are fields of its request.

    Raises InputError when no trial has ended.
    """
    started = read_started(folder)
    request = started.request.model_copy(update={"results": str(folder.parent), **changes})
    suites = await _open(request)
    planned = request.planned(folder, suites, started.today)
    trials = [trial for p in planned if (trial := read_trial(Path(p.request.out), p.task, broken=True))]
    if not trials:
        raise InputError(
            f"no trial of {folder} has ended", f"let it go on: tablewright benchmark run --run {folder.name} …"
        )
    return await _conclude(request, folder, suites, trials, len(planned) - len(trials))


def count(request: BenchmarkRequest) -> int:
    """How many questions would be asked. Raises InputError where the benchmark itself would."""
    suites = asyncio.run(_open(request))
    return len(request.planned(request.folder, suites, date.today()))


async def _open(request: BenchmarkRequest) -> tuple[Suite, ...]:
    return tuple(await asyncio.gather(*(open_suite(str(place(path))) for path in request.suites)))


async def _conclude(
    request: BenchmarkRequest, folder: Path, suites: tuple[Suite, ...], trials: list[Trial], missing: int
) -> Benchmark:
    """Score, keep as Parquet, hold against the other run, write. `missing` are trials that have not ended."""
    scored = await score_trials(str(folder), suites, tuple(trials), request.penalty)
    save(folder, folder.name, scored)
    before = baseline(folder.parent, request.against, folder.name)
    found = take_figures(folder, before, [f"{p} / {m}" if m else p for p, m in _names(request)])
    found = found.model_copy(
        update={
            "penalty": request.penalty,
            "seconds": read_started(folder).seconds,
            "suites": suites,
            "missing": missing,
            **_outcome(trials, found),
            "versions": versions(),
        }
    )
    await write_report(found, str(place(request.into)) if request.into else "", request.section)
    worse = found.against is not None and found.against.worse
    if request.accept == "yes" or (request.accept == "unless worse" and not worse and not missing):
        accept(folder.parent, folder.name)
    return found


def _check_models(planned: list[Planned]) -> None:
    """Raise InputError when a setup that is still to be asked has no model."""
    for _, first in groupby(planned, key=lambda trial: (trial.request.profile, trial.request.model)):
        open_ = next((p for p in first if read_trial(Path(p.request.out), p.task) is None), None)
        if open_:
            check_model(load(open_.request.profile, open_.request.overrides()), open_.request.ROLE)


def _outcome(trials: list[Trial], found: Benchmark) -> dict[str, Any]:
    """Why no question got an answer, where none did, and the run's exit code."""
    if any(trial.rows is not None for trial in trials):
        return {"code": 5 if found.against and found.against.worse else 0}
    ((reason, code), count), *_ = Counter((trial.reason, trial.code) for trial in trials).most_common(1)
    return {"unanswered": f"no question got an answer; {count} of {len(trials)}: {reason}", "code": code or 5}


def _names(request: BenchmarkRequest) -> list[tuple[str, str]]:
    return [(Path(profile).stem, model) for profile, model in request.setups]


async def _ask(planned: list[Planned], request: BenchmarkRequest, board: Board | None, prefect: str) -> list[Trial]:
    """Those that ended, several at once; in a flow run each is a task run. None begins after the deadline."""
    settings = [load(profile) for profile in request.profiles]
    gate = asyncio.Semaphore(places(settings[0], request.concurrency))
    until = time.monotonic() + (request.deadline or math.inf)
    gauge = Gauge("benchmark-progress", len(planned)) if prefect else None

    async def one(trial: Planned, run: Any) -> Trial | None:
        async with gate:
            if time.monotonic() > until and read_trial(Path(trial.request.out), trial.task) is None:
                return None
            ended: Trial = await run(trial, board.hear if board else _unheard)
            if gauge:
                await gauge.end()
            if board:
                board.end(Row(task=trial.request.label, status=ended.status, reason=ended.reason))  # type: ignore[arg-type]
            return ended

    async with _runs(settings[0], prefect) as run:
        turns = _by_task(planned) if request.deadline else planned
        return [trial for trial in await asyncio.gather(*(one(trial, run) for trial in turns)) if trial]


def _by_task(planned: list[Planned]) -> list[Planned]:
    """A task at a time under all setups, a repeat after the other: what is cut off is cut off from all setups."""
    repeats = list(dict.fromkeys(trial.request.repeat for trial in planned))
    tasks = {name: turn for turn, name in enumerate(dict.fromkeys(map(_task, planned)))}
    return sorted(planned, key=lambda trial: (repeats.index(trial.request.repeat), tasks[_task(trial)]))


def _task(trial: Planned) -> tuple[str, str]:
    return trial.suite.name, trial.task.task


@contextlib.asynccontextmanager
async def _runs(settings: Settings, prefect: str) -> AsyncIterator[Any]:
    """What runs a trial: a plain call, or in a flow run a task, on the task runner of the settings."""
    runner = settings.machines.runner
    if runner == "here":
        yield _as_task if prefect else run_trial
        return
    if runner == "pool" or not prefect:
        why = "a benchmark's questions are tasks of its own run" if prefect else "no Prefect server is used"
        raise InputError(
            f"machines.runner = {runner!r}: {why}", 'set it to "threads" or "dask", with a server, or to "here"'
        )
    async with started(settings) as tasks:

        async def submit(trial: Planned, _: Any) -> Trial:
            shared = trial.request.model_copy(update={"shares": settings.machines.shares})
            apart = partial(run_trial, trial._replace(request=shared), _unheard)
            ended: Trial = await submitted(tasks, apart, trial.request.label)
            return ended

        yield submit


async def _as_task(trial: Planned, hear: Any) -> Trial:
    from prefect import task
    from prefect.cache_policies import NO_CACHE

    async def ask_question() -> Trial:
        return await run_trial(trial, hear)

    name = trial.request.label
    unit = task(name="ask_question", task_run_name=name, cache_policy=NO_CACHE, persist_result=False)(ask_question)
    return await unit()


def _unheard(*_: object) -> None:
    """Nobody watches."""


class Started(Value):
    """`run.json`: what a run was asked, on which day, and how long it took so far."""

    request: BenchmarkRequest
    today: date
    began: datetime
    seconds: float = 0.0


def read_started(folder: Path) -> Started:
    """What the run of a folder was asked. Raises InputError when it is no run."""
    try:
        return Started.model_validate_json((folder / STARTED).read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(f"{folder} is no run of the benchmark", "see `tablewright benchmark list`") from error


def _started(folder: Path, request: BenchmarkRequest, today: date) -> Started:
    """What is asked; a run that goes on must be asked the same. Raises InputError when it is not."""
    if not (folder / STARTED).is_file():
        return Started(request=request, today=today, began=datetime.now(UTC))
    started = read_started(folder)
    for name in ("suites", "profiles", "models", "numbers"):
        if getattr(started.request, name) != getattr(request, name):
            what = "repeats" if name == "numbers" else name
            raise InputError(f"the run {folder.name} was asked for other {what}", "give this one another name: --run")
    return started


def _write(folder: Path, started: Started) -> None:
    try:
        Folder(folder).write(STARTED, started.model_dump_json(indent=2).encode())
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}", "choose another folder: --results") from error
