"""Suites × profiles → scores, coverage, agreement and cost side by side, as a page that is written anew after every batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.batch import Batch, Row
from tasks.benchmark.score import score
from tasks.core.models.score import SuiteScore
from tasks.core.models.value import Value


class Result(Value):
    """One suite under one profile."""

    suite: str
    profile: str
    rows: tuple[Row, ...]
    scores: SuiteScore
    seconds: float

    def scored(self) -> list[tuple[Row, float]]:
        """Every task that ran and has a gold table, with its score."""
        found = {task.task: task.score for task in self.scores.tasks}
        return [(row, found[row.task]) for row in self.rows if row.task in found]


def result_of(batch: Batch, gold: Path, profile: str) -> Result:
    """What a batch that ended was worth. Raises InputError when the suite has no gold tables."""
    scores = score(batch.target, gold)
    kept = tuple(task for task in scores.tasks if task.task in batch.rows)
    return Result(
        suite=batch.source.name,
        profile=profile,
        rows=tuple(batch.rows[task] for task in batch.tasks if task in batch.rows),
        scores=SuiteScore(tasks=kept, penalty=scores.penalty),
        seconds=batch.seconds,
    )


def page(results: Sequence[Result], confident_share: float) -> str:
    """Markdown: one line a suite and profile, all suites together, agreement, and every task whose score differs."""
    lines = [
        "| suite | profile | tasks | answered | score | perfect | s a task | tokens a task |",
        "|---|---|---|---|---|---|---|---|",
    ]
    profiles = list(dict.fromkeys(result.profile for result in results))
    lines += [_line(result.suite, result.profile, result.scored()) for result in results]
    if len(results) > len(profiles):
        lines += [
            _line("**all**", profile, [pair for r in results if r.profile == profile for pair in r.scored()])
            for profile in profiles
        ]
    for profile in profiles:
        pairs = [pair for r in results if r.profile == profile for pair in r.scored()]
        voted = [(row, value) for row, value in pairs if row.agreement is not None]
        if voted:
            lines += [
                "",
                f"Agreement under `{profile}`:",
                "",
                "| samples that agree | tasks | right |",
                "|---|---|---|",
            ]
            lines += [_agreement(name, group) for name, group in _groups(voted, confident_share)]
    lines += ["", "Tasks whose score differs between the profiles:", ""]
    return "\n".join([*lines, *(_differences(results, profiles) or ["none"])]) + "\n"


def _line(suite: str, profile: str, pairs: Sequence[tuple[Row, float]]) -> str:
    count = max(len(pairs), 1)
    answered = sum(row.rows is not None for row, _ in pairs)
    values = [value for _, value in pairs]
    seconds = sum(row.seconds for row, _ in pairs) / count
    tokens = sum(row.tokens_in + row.tokens_out for row, _ in pairs) / count
    perfect = sum(value > 0.999 for value in values)
    mean = sum(values) / count
    return (
        f"| {suite} | {profile} | {len(pairs)} | {answered} | {mean:.3f} | {perfect} | {seconds:.1f} | {tokens:,.0f} |"
    )


def _groups(voted: list[tuple[Row, float]], confident_share: float) -> list[tuple[str, list[tuple[Row, float]]]]:
    sure = [pair for pair in voted if (pair[0].agreement or 0) >= confident_share]
    unsure = [pair for pair in voted if (pair[0].agreement or 0) < confident_share]
    return [(f"{confident_share:.0%} or more", sure), ("fewer (marked `partial`)", unsure)]


def _agreement(name: str, group: list[tuple[Row, float]]) -> str:
    return f"| {name} | {len(group)} | {sum(value > 0.999 for _, value in group)} |"


def _differences(results: Sequence[Result], profiles: list[str]) -> list[str]:
    table: dict[tuple[str, str], dict[str, float]] = {}
    for result in results:
        for row, value in result.scored():
            table.setdefault((result.suite, row.task), {})[result.profile] = value
    return [
        f"- {suite}/{task}: " + ", ".join(f"{name} {values[name]:.2f}" for name in profiles if name in values)
        for (suite, task), values in table.items()
        if len({round(value, 3) for value in values.values()}) > 1
    ]
