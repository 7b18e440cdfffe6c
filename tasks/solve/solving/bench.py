"""What the tools of one attempt share: the assignment, the open catalogue, the contract as it stands, the candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

from tasks.core.models.answer import Addition, Assignment, Candidate, Contract
from tasks.core.sections import SolverSettings
from tasks.core.sql.engine import Engine
from tasks.solve.solving.searching import Searching


@dataclass
class Bench:
    """Lives inside one stage run; never crosses a stage boundary."""

    assignment: Assignment
    engine: Engine
    limits: SolverSettings
    contract: Contract
    candidates: list[Candidate] = field(default_factory=list)
    sound: set[int] = field(default_factory=set)
    """Candidates in which nothing looked odd."""
    told: set[str] = field(default_factory=set)
    """Oddities that the solver was told, and the digests of results in which they were."""
    tier: str = ""
    """What isolated the programs that ran."""
    accepted: int | None = None
    """The candidate that the solver stands by."""
    rejected: set[int] = field(default_factory=set)
    """Candidates that validators sent back."""
    heard: int = 0
    """What validators said that it has met so far."""
    last_turn: bool = False
    """Nothing can be sent back any more."""
    met: set[str] = field(default_factory=set)
    """Paths of the documents that it asked for and was given."""
    tables: Searching | None = None
    """What the tables say, cut into words when they are first searched."""
    given: Assignment = field(init=False)
    """The assignment as it was at the start; `assignment` grows with what the solver asks for."""

    def __post_init__(self) -> None:
        self.given = self.assignment

    @property
    def behind(self) -> bool:
        """Whether it has yet to come to where it ended before: its turns up to there are paid for."""
        unmet = any(addition.path not in self.met for addition in self.given.added)
        return unmet or self.heard < len(self.given.audits)

    async def meet(self, addition: Addition) -> None:
        """Query all that there is with this addition, from now on."""
        if addition.path in self.met:
            return
        self.met.add(addition.path)
        await self.engine.close()
        self.engine = Engine.over(addition.catalogue, self.limits.query)
        self.assignment = self.assignment.model_copy(
            update={"catalogue": addition.catalogue, "profile": addition.profile}
        )
        self.tables = None

    @property
    def chars(self) -> int:
        """Signs of one result, as the model sees it."""
        return self.limits.agent.result_chars

    @property
    def best(self) -> int | None:
        """The accepted candidate; else the last one that nobody sent back and in which nothing looked odd; else the last one
        that nobody sent back; else the last one."""
        if self.accepted is not None or not self.candidates:
            return self.accepted
        every = set(range(len(self.candidates)))
        return max(self.sound - self.rejected or every - self.rejected or every)
