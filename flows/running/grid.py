"""What a benchmark is asked: suites × profiles × models × repeats → its trials in order, and the run's folder."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from flows.running.trial import Planned, plan
from tasks.core.errors import InputError
from tasks.core.files.paths import expand
from tasks.core.models.benchmark import Suite
from tasks.core.sections import PROJECT
from tasks.core.settings import load


class BenchmarkRequest(BaseModel):
    """Suites of tasks with gold, and the setups to measure on them."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Benchmark")

    config: str = Field(
        default="",
        title="Settings file",
        description="A name from configs/, as benchmark, or the path of a .toml: what it says holds for each field that is left at its default here.",
    )
    suites: list[str] = Field(
        default=["data/samples"],
        min_length=1,
        title="Suites",
        description="Folders of tasks with gold/TASK/gold.csv, or manifests of them (suite.json).",
    )
    profiles: list[str] = Field(
        default=["default"],
        min_length=1,
        title="Profiles",
        description="Settings from configs/, or paths of .toml files: default asks MODEL_API_URL, local a small model on this machine, bare is the yardstick.",
    )
    models: list[str] = Field(
        default=[],
        title="Models",
        description="Each is measured under each profile, at the endpoint main. Empty: the profile's own.",
    )
    repeats: int = Field(
        default=1, ge=1, le=100, title="Repeats", description="Trials of each task; each draws samples of its own."
    )
    seeds: list[NonNegativeInt] = Field(
        default=[],
        max_length=100,
        title="Seeds",
        description="Numbers of the repeats: a repeat for each, with samples of its own. Empty: 0 and up, as many as Repeats.",
    )
    skip: list[str] = Field(default=[], title="Leave out", description="SUITE/TASK that shall not run.")
    penalty: float = Field(
        default=0.1,
        ge=0,
        title="Penalty λ",
        description="What a surplus column of an answer costs, as a share of its part.",
    )
    concurrency: int = Field(default=0, ge=0, title="At once", description="Questions at once. 0: as for a batch.")
    deadline: float = Field(
        default=0,
        ge=0,
        title="Deadline",
        description="Seconds after which no more questions begin. 0: none. Questions are then asked a task at a time under all setups.",
    )
    against: Literal["accepted", "previous", "none"] = Field(
        default="accepted", title="Hold against", description="The last accepted run, the run before this one, or none."
    )
    accept: Literal["no", "unless worse", "yes"] = Field(
        default="no",
        title="Accept",
        description="Whether this run becomes what later ones are held against; worse = the sign test says so, or trials are missing.",
    )
    results: str = Field(
        default="",
        title="Results",
        description="Folder of all runs. Empty: benchmarks in the store of the first profile.",
    )
    run: str = Field(
        default="",
        max_length=100,
        pattern=r"^(\w[\w.+-]*)?$",
        title="Run",
        description="Name of this run; an unfinished one goes on. Empty: a new one.",
    )
    into: str = Field(
        default="",
        title="Write into",
        description="Markdown file whose section between this benchmark's markers is replaced.",
    )
    section: str = Field(default="benchmark", title="Section", description="Name in the markers of that file.")

    @property
    def setups(self) -> list[tuple[str, str]]:
        """(profile, model), profiles first; an empty model is the profile's own."""
        return [(profile, model) for profile in self.profiles for model in (self.models or [""])]

    @property
    def numbers(self) -> list[int]:
        """Of the repeats."""
        return self.seeds or list(range(self.repeats))

    @property
    def folder(self) -> Path:
        """Of all runs, absolute. Raises InputError for a profile that is not there."""
        return place(self.results) if self.results else load(self.profiles[0]).store.folder / "benchmarks"

    def planned(self, folder: Path, suites: tuple[Suite, ...], today: date) -> list[Planned]:
        """Every trial, a setup at a time. Raises InputError when names clash, or what is left out is not there."""
        _check_names([suite.name for suite in suites], "suites")
        _check_names([f"{Path(profile).stem} {model}" for profile, model in self.setups], "setups")
        known = {f"{suite.name}/{task.task}" for suite in suites for task in suite.tasks}
        if strange := sorted(set(self.skip) - known):
            raise InputError(f"there is no task {strange[0]} to leave out", "say SUITE/TASK, as in the report")
        _check_names([str(number) for number in self.numbers], "repeats")
        dated = [s if s.as_of else s.model_copy(update={"as_of": today}) for s in suites]
        return [
            plan(folder, suite, task, setup, repeat)
            for setup in self.setups
            for suite in dated
            for repeat in self.numbers
            for task in suite.tasks
            if f"{suite.name}/{task.task}" not in self.skip
        ]


def make_request(**given: Any) -> BenchmarkRequest:
    """A request of these fields. Raises InputError for a value that a field does not take."""
    try:
        return BenchmarkRequest(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        hint = "see `tablewright benchmark run --help`"
        raise InputError(f"{name} {first['input']!r}: {first['msg']}", hint) from error


def place(path: str) -> Path:
    """Absolute; what is not below the working folder is looked for in the checkout, so that defaults work anywhere."""
    given = expand(path)
    if given.is_absolute() or given.exists() or not (PROJECT / given).exists():
        return given.absolute()
    return PROJECT / given


def _check_names(names: list[str], what: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two {what} are called {twice!r}", "give each a name of its own")
