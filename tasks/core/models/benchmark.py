"""A suite of tasks with gold, what its questions gave under every setup, and how two runs compare."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from tasks.core.models.value import Location, Value


class SuiteTask(Value):
    """One task of a suite, with what it must still be for its score to mean the same."""

    task: str
    asked: str
    """SHA-256 over the names and contents of the task folder's files."""
    gold: str
    """The same over the files of its gold folder."""


class Suite(Value):
    """A folder of tasks with gold, as its manifest describes it."""

    name: str
    version: str = ""
    """Empty: there is no manifest, so nobody promised that the tasks are those of another day."""
    as_of: date | None = None
    """The day that "today" means in its questions; None: the day of the run."""
    folder: Annotated[str, Location()]
    tasks: tuple[SuiteTask, ...]
    disputed: dict[str, str] = Field(default_factory=dict)
    """Task → why its gold is not trusted. It is asked and shown, and left out of every score."""


class StageCost(Value):
    """One stage of one question: wall clock, and the model calls made in it by this run."""

    stage: str
    seconds: float = 0.0
    """Sum over the runs of the stage."""
    calls: int = 0
    journaled: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    """Of `tokens_in`: those that the endpoint had in its prefix cache."""
    tokens_out: int = 0
    money: float = 0.0


class Measure(Value):
    """How right one stage was: `right` of `of`."""

    stage: str
    metric: str
    right: float
    of: float


class Trial(Value):
    """One question under one setup, once."""

    suite: str
    version: str = ""
    task: str
    asked: str
    gold: str
    profile: str
    model: str
    repeat: int
    status: str
    reason: str
    code: int = 0
    """Exit code that `answer` would have ended with."""
    seconds: float = 0.0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    """Calls and tokens are those that the work takes, whoever paid: equal for a run and for one that reads its records."""
    paid: int = 0
    """Replies that an endpoint gave in this run; where it is less than `calls`, the seconds are those of reading, too."""
    money: float = 0.0
    """US dollars that this run cost, by litellm's price map; 0 for unknown models."""
    rows: int | None = None
    """None: no answer."""
    agreement: float | None = None
    sure: bool | None = None
    """Whether at least `agent.confident_share` of the samples agree; None outside the `single` style."""
    place: Annotated[str, Location()]
    """Folder of its files, relative to the run's."""
    stages: tuple[StageCost, ...] = ()

    @property
    def setup(self) -> str:
        """Profile and model, as a reader tells setups apart."""
        return setup_name(self.profile, self.model)


class Scored(Trial):
    """A trial held against its gold."""

    score: float
    why: str
    left_out: str = ""
    """Why it is in no score: its gold is disputed."""
    measures: tuple[Measure, ...] = ()


class SetupScore(Value):
    """One suite under one setup, over all repeats; disputed tasks are in none of these."""

    suite: str
    """Empty: all suites together."""
    version: str
    profile: str
    model: str
    tasks: int
    repeats: int
    answered: float
    """Share of trials with an answer."""
    score: float
    sigma: float | None
    """Sample standard deviation of the suite's mean score over repeats; None with one repeat."""
    perfect: float
    """Share of trials with the full score."""
    seconds: float
    """Mean wall clock of a question; questions that run at once slow each other down."""
    tokens: float
    calls: float
    """Means of a question, whoever paid."""
    paid: float
    """Calls of a question that an endpoint answered in this run."""
    money: float
    """US dollars that all its trials cost in this run."""
    errors: int = 0
    """Trials that an error ended; they count as 0 here, and are run again when the run goes on."""
    error: str = ""
    """What the first of them says."""

    @property
    def setup(self) -> str:
        """Profile and model."""
        return setup_name(self.profile, self.model)


class StageScore(Value):
    """One measure of one stage, over all trials of a suite and setup that it applies to."""

    suite: str
    profile: str
    model: str
    stage: str
    metric: str
    right: float
    of: float
    trials: int


class TaskScores(Value):
    """One task under one setup."""

    suite: str
    task: str
    profile: str
    model: str
    score: float
    """Mean over repeats."""
    sigma: float | None
    """Sample standard deviation over repeats; None with one."""
    status: str
    """Of the first repeat."""
    why: str
    left_out: str

    @property
    def setup(self) -> str:
        """Profile and model."""
        return setup_name(self.profile, self.model)


class Move(Value):
    """A task whose mean score is another one than before."""

    suite: str
    task: str
    setup: str
    before: float
    after: float


class Paired(Value):
    """The same tasks twice: in this run and in another, or under two setups of one run."""

    before: str
    after: str
    pairs: int
    """Tasks on both sides that are the same task, with the same gold, and are not disputed."""
    unpaired: int
    """Tasks on one side only, or changed since."""
    difference: float
    """Mean score after less before, over the pairs."""
    moves: tuple[Move, ...]
    p: float
    """Exact two-sided sign test over the tasks that moved; 1 when none did."""

    @property
    def up(self) -> int:
        """Tasks that are better now."""
        return sum(move.after > move.before for move in self.moves)

    @property
    def down(self) -> int:
        """Tasks that are worse now."""
        return len(self.moves) - self.up

    @property
    def worse(self) -> bool:
        """More tasks fell than rose, and chance gives that in less than one of 20 cases."""
        return self.down > self.up and self.p < 0.05


class Benchmark(Value):
    """What one run of the benchmark found."""

    run: str
    folder: Annotated[str, Location()]
    penalty: float = 0.1
    """What a surplus column of an answer costs, as a share of its part (λ)."""
    seconds: float = 0.0
    """Wall clock of the whole run."""
    suites: tuple[Suite, ...] = ()
    setups: tuple[SetupScore, ...]
    stages: tuple[StageScore, ...]
    costs: tuple[StageCost, ...]
    """By stage, over all trials."""
    tasks: tuple[TaskScores, ...]
    sure: tuple[tuple[str, str, int, int], ...] = ()
    """(setup, `yes` or `no`: whether enough samples agree, trials, those with the full score)."""
    against: Paired | None = None
    """The run that it is held against; None when there is none."""
    between: tuple[Paired, ...] = ()
    """Every setup against the first one."""
    missing: int = 0
    """Trials that have not run yet."""
    unanswered: str = ""
    """Where no question got an answer: why most of them did not."""
    code: int = 0
    """Exit code of the run: most of theirs where no question got an answer, else 5 where it is worse than the other run."""
    versions: dict[str, str] = Field(default_factory=dict)


def setup_name(profile: str, model: str) -> str:
    """`profile`, or `profile / model` where the grid names models."""
    return f"{profile} / {model}" if model else profile
