"""What a run cost."""

from __future__ import annotations

from tasks.core.models.value import Value


class Usage(Value):
    """What one answer of a model took, retries and repairs included."""

    calls: int = 0
    """Replies that an endpoint gave for it; one request for 5 samples gives 5."""
    journaled: int = 0
    """Replies that the journal gave."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """Of `tokens_in`: those that the endpoint had in its prefix cache, as it counts them."""
    tokens_out: int = 0
    """Tokens count journaled replies too: what the work takes, whoever paid for it."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            journaled=self.journaled + other.journaled,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            tokens_out=self.tokens_out + other.tokens_out,
        )

    def whoever_paid(self) -> Usage:
        """The same with journaled replies among the calls: equal for a run and for its rerun after a crash."""
        return self.model_copy(update={"calls": self.calls + self.journaled, "journaled": 0})


class StageSpend(Value):
    """Model calls of one stage. Journaled replies are counted apart: they cost nothing again."""

    stage: str
    calls: int = 0
    """Replies that an endpoint gave in this run."""
    journaled: int = 0
    """Replies of earlier runs that the journal gave; what this run paid for and read once more is in `calls` alone."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """Of `tokens_in`, as in Usage."""
    tokens_out: int = 0
    money: float = 0.0
    """US dollars, by litellm's price map; 0 for unknown models."""
    seconds: float = 0.0
    """Sum over calls, so above the wall clock when calls overlap."""


class Spend(Value):
    """Model calls of a run, by stage."""

    stages: tuple[StageSpend, ...] = ()

    def total(self) -> StageSpend:
        """All stages together, under the name `total`."""
        return StageSpend(
            stage="total",
            calls=sum(s.calls for s in self.stages),
            journaled=sum(s.journaled for s in self.stages),
            tokens_in=sum(s.tokens_in for s in self.stages),
            tokens_cached=sum(s.tokens_cached for s in self.stages),
            tokens_out=sum(s.tokens_out for s in self.stages),
            money=sum(s.money for s in self.stages),
            seconds=sum(s.seconds for s in self.stages),
        )
