"""A suite's question under one setup → its files and what it took, once; a trial that ended before is read, not run again."""

from __future__ import annotations

import asyncio
import contextvars
import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from flows.running.request import AnswerRequest
from flows.running.rows import Row, evidence_of, row_of, row_of_error
from flows.running.session import Ended
from tasks import stage
from tasks.core.errors import TablewrightError
from tasks.core.files.paths import file_name
from tasks.core.files.store import Folder
from tasks.core.models.benchmark import StageCost, Suite, SuiteTask, Trial
from tasks.core.models.evidence import Evidence
from tasks.core.settings import Settings, load

KEPT = "trial.json"
Hear = Callable[[str, str, stage.StageEvent], None]


class TrialRequest(AnswerRequest):
    """One question of a suite under one setup."""

    model: str = ""
    """In place of the profile's own at the endpoint `main`."""
    repeat: int = 0
    """Its samples are others than those of another repeat."""

    def overrides(self) -> dict[str, Any]:
        """Model and repeat, too."""
        model = {"endpoints": {"main": {"model": self.model}}} if self.model else {}
        return {**super().overrides(), "journal": {"repeat": self.repeat}, **model}

    @property
    def label(self) -> str:
        """For a reader who watches."""
        setup = " / ".join(filter(None, (Path(self.profile).stem, self.model)))
        return f"{Path(self.folder).parent.name}/{Path(self.folder).name}  {setup} #{self.repeat}"


class Planned(NamedTuple):
    """A trial that shall run."""

    suite: Suite
    task: SuiteTask
    place: str
    """Folder of its files, relative to the run's."""
    request: TrialRequest


def plan(folder: Path, suite: Suite, task: SuiteTask, setup: tuple[str, str], repeat: int) -> Planned:
    """The trial of a task, with files below `folder`. `setup` is a profile and a model; empty = the profile's own."""
    name = "+".join(filter(None, (Path(setup[0]).stem, setup[1])))
    place = f"{file_name(name, '')}/{file_name(suite.name, '')}/repeat-{repeat}/{task.task}"
    request = TrialRequest(
        folder=str(Path(suite.folder) / task.task),
        profile=setup[0],
        model=setup[1],
        repeat=repeat,
        as_of=suite.as_of,
        out=str(folder / place),
        csv_name="prediction.csv",
    )
    return Planned(suite, task, place, request)


async def run_trial(planned: Planned, hear: Hear) -> Trial:
    """Run a trial to its end; its own trouble is its result.

    It runs in a context of its own: inside a flow run its stages are plain calls, because the unit there is the question.
    """
    out = Path(planned.request.out)
    if kept := read_trial(out, planned.task):
        return kept
    trial = await asyncio.create_task(_run(planned, hear), context=contextvars.Context())
    Folder(out).write(KEPT, trial.model_dump_json(indent=2).encode())
    return trial


def read_trial(out: Path, task: SuiteTask, broken: bool = False) -> Trial | None:
    """A trial that ended, of this very task; `broken`: also one that an error ended, which else is run again."""
    try:
        trial = Trial.model_validate_json((out / KEPT).read_bytes())
    except (OSError, ValidationError):
        return None
    same = (trial.asked, trial.gold) == (task.asked, task.gold)
    return trial if same and (broken or trial.status != "error") else None


async def _run(planned: Planned, hear: Hear) -> Trial:
    from flows.answer import answer

    request, ended, known, spent = planned.request, None, {}, defaultdict[str, float](float)

    def heard(name: str, event: stage.StageEvent, seconds: float) -> None:
        if event != "start":
            spent[name] += seconds
        hear(request.label, name, event)

    began = time.monotonic()
    stage.listener.set(heard)
    try:
        settings = load(request.profile)
        ended = await answer(request)
        evidence = evidence_of(ended)
        row = row_of(request.label, ended, evidence)
        known = _known(evidence, settings)
    except Exception as error:  # noqa: BLE001  one question's trouble is its own
        row = row_of_error(request.label, error, time.monotonic() - began)
        if not isinstance(error, TablewrightError):
            text = "".join(traceback.format_exception(error))
            Folder(Path(request.out)).write("error.txt", text.encode())
    return _trial(planned, row, known, _costs(spent, ended))


def _known(evidence: Evidence, settings: Settings) -> dict[str, Any]:
    """Calls and tokens of a question, whoever paid, and whether its samples agreed: what only evidence tells."""
    agreement = evidence.solving.agreement
    return {
        "sure": None if agreement is None else agreement >= settings.agent.confident_share,
        **{name: sum(getattr(part, name) for part in evidence.usage) for name in ("calls", "tokens_in", "tokens_out")},
    }


def _trial(planned: Planned, row: Row, known: dict[str, Any], stages: tuple[StageCost, ...]) -> Trial:
    suite, task, request = planned.suite, planned.task, planned.request
    kept = {"status", "reason", "code", "seconds", "rows", "agreement"}
    return Trial(
        suite=suite.name,
        version=suite.version,
        task=task.task,
        asked=task.asked,
        gold=task.gold,
        profile=Path(request.profile).stem,
        model=request.model,
        repeat=request.repeat,
        paid=sum(part.calls for part in stages),
        money=sum(part.money for part in stages),
        **known,
        place=planned.place,
        stages=stages,
        **row.model_dump(include=kept),
    )


def _costs(spent: dict[str, float], ended: Ended | None) -> tuple[StageCost, ...]:
    """Wall clock and model calls by stage."""
    asked = {part.stage: part for part in (ended.spend.stages if ended else ())}
    return tuple(
        StageCost(
            stage=name,
            **(asked[name].model_dump(exclude={"stage", "seconds"}) if name in asked else {}),
            seconds=round(spent.get(name, 0.0), 3),
        )
        for name in dict.fromkeys((*spent, *asked))
    )
