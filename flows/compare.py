"""Suites × profiles → scores, coverage, agreement and cost side by side, as a page that is written anew after every batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from flows.running.tasks import Row
from tasks.benchmark.score import score
from tasks.core.errors import InputError
from tasks.core.models.score import SuiteScore
from tasks.core.models.value import Value


class Result(Value):
    """One suite under one profile."""

    suite: str
    profile: str
    rows: tuple[Row, ...]
    scores: SuiteScore
    seconds: float
    """Wall clock of the whole batch."""

    def scored(self) -> list[tuple[Row, float]]:
        """Every task that ran and has a gold table, with its score."""
        found = {task.task: task.score for task in self.scores.tasks}
        return [(row, found[row.task]) for row in self.rows if row.task in found]


def result_of(target: Path, gold: Path, profile: str) -> Result:
    """What a batch that ended was worth, read from its folder. Raises InputError when the suite has no gold tables."""
    try:
        summary = json.loads((target / "summary.json").read_bytes())
        rows = tuple(Row.model_validate(row) for row in summary["tasks"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"no results of profile {profile!r} in {target}: {error}", "run without --page-only"
        ) from error
    ran, scores = {row.task for row in rows}, score(target, gold)
    return Result(
        suite=target.name,
        profile=profile,
        rows=rows,
        scores=SuiteScore(tasks=tuple(task for task in scores.tasks if task.task in ran), penalty=scores.penalty),
        seconds=summary["seconds"],
    )


def page(results: Sequence[Result], confident_share: float) -> str:
    """Markdown: one line a suite and profile, all suites together, agreement, and every task whose score differs."""
    lines = [
        "| suite | profile | tasks | answered | score | perfect | s a task | tokens a task |",
        "|---|---|---|---|---|---|---|---|",
    ]
    profiles = list(dict.fromkeys(result.profile for result in results))
    lines += [_line(result.suite, [result]) for result in results]
    of = {profile: [result for result in results if result.profile == profile] for profile in profiles}
    lines += [_line("**all**", of[profile]) for profile in profiles if len(results) > len(profiles)]
    for profile in profiles:
        voted = [(row, value) for r in of[profile] for row, value in r.scored() if row.agreement is not None]
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


def _line(suite: str, results: Sequence[Result]) -> str:
    pairs = [pair for result in results for pair in result.scored()]
    count = max(len(pairs), 1)
    answered = sum(row.rows is not None for row, _ in pairs)
    mean = sum(value for _, value in pairs) / count
    perfect = sum(value > 0.999 for _, value in pairs)
    seconds = sum(result.seconds for result in results) / count
    tokens = sum(row.tokens_in + row.tokens_out for row, _ in pairs) / count
    cells = (
        suite,
        results[0].profile,
        len(pairs),
        answered,
        f"{mean:.3f}",
        perfect,
        f"{seconds:.1f}",
        f"{tokens:,.0f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


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
