"""How close a prediction came to the gold table."""

from __future__ import annotations

from tasks.core.models.value import Value


class TaskScore(Value):
    """One prediction against one gold table."""

    task: str
    score: float
    """0 to 1: share of gold columns found, less the penalty for surplus columns."""
    matched: tuple[str, ...] = ()
    """Gold columns that the prediction holds, in gold order."""
    missing: tuple[str, ...] = ()
    """Gold columns that it does not hold."""
    extras: tuple[str, ...] = ()
    """Columns of the prediction that no gold column asks for."""
    reason: str

    @property
    def perfect(self) -> bool:
        """Every gold column found and nothing besides."""
        return self.score > 0.999


class SuiteScore(Value):
    """All predictions of a suite; a missing prediction counts as 0."""

    tasks: tuple[TaskScore, ...]
    penalty: float
    """What a surplus column costs, as a share of its part of the prediction's columns."""

    @property
    def mean(self) -> float:
        """Mean score over all tasks that have a gold table."""
        return sum(task.score for task in self.tasks) / len(self.tasks)
