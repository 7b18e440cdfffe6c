"""What the tools of one attempt share: the assignment, the open catalogue, the contract as it stands, the candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

from tasks.core.models.answer import Assignment, Candidate, Contract
from tasks.core.sections import SolverSettings
from tasks.core.sql.engine import Engine


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

    @property
    def chars(self) -> int:
        """Signs of one result, as the model sees it."""
        return self.limits.agent.result_chars

    @property
    def best(self) -> int | None:
        """The accepted candidate; else the last one in which nothing looked odd; else the last one."""
        if self.accepted is not None or not self.candidates:
            return self.accepted
        return max(self.sound, default=len(self.candidates) - 1)
