"""usages as they come → model calls by document and stage, in an order that does not depend on who was first."""

from __future__ import annotations

from collections import defaultdict

from tasks.core.models.run import Spend, StageSpend, Usage


class Costs:
    """What documents took, whoever paid: equal for a run and for its rerun after a crash."""

    def __init__(self) -> None:
        self._usage: dict[tuple[str, str], Usage] = defaultdict(Usage)

    def add(self, stem: str, stage: str, *usages: Usage) -> None:
        """Count these for a document (empty = all of them together) and a stage."""
        self._usage[stem, stage] = sum(usages, self._usage[stem, stage])

    def stages(self) -> tuple[StageSpend, ...]:
        """One for each document and stage that asked a model, named `stem/stage`."""
        return tuple(
            StageSpend(
                stage=f"{stem}/{stage}" if stem else stage,
                calls=usage.calls + usage.journaled,
                tokens_in=usage.tokens_in,
                tokens_cached=usage.tokens_cached,
                tokens_out=usage.tokens_out,
            )
            for (stem, stage), usage in sorted(self._usage.items())
            if usage != Usage()
        )


def sum_of(*spends: Spend) -> Spend:
    """Model calls of several tries of a run, by stage, in the order of the first of each."""
    found: dict[str, list[StageSpend]] = defaultdict(list)
    for spend in spends:
        for part in spend.stages:
            found[part.stage].append(part)
    return Spend(
        stages=tuple(
            Spend(stages=tuple(parts)).total().model_copy(update={"stage": name}) for name, parts in found.items()
        )
    )
