"""Right queries and faulty ones with what checks say of them → tables of what is found, and a sample to ask a model about."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planting import KINDS

from tasks.core.models.evidence import Check

HALVES = ("tuned", "held out")


@dataclass(frozen=True)
class Case:
    """A query over a folder, right or with one fault, and what the checks say of it."""

    task: str
    half: str
    kind: str
    """Empty for the right query."""
    question: str
    sql: str
    checks: tuple[Check, ...] = ()

    @property
    def failed(self) -> bool:
        """A check failed."""
        return any(check.outcome == "failed" for check in self.checks)

    @property
    def flagged(self) -> bool:
        """A check failed or has something to note."""
        return any(check.outcome != "passed" for check in self.checks)

    @property
    def name(self) -> str:
        """What it is, for a reader."""
        return f"{self.kind or 'right'} · {self.task}"


def sample(cases: Sequence[Case], number: int, seed: int = 0) -> list[Case]:
    """So many faults, each kind as often as the others where there are enough, and the right queries of their tasks.

    Which ones is decided by the digest of seed, task and query; faults of tasks that have fewer in it come first.
    """
    rank = {case: hashlib.blake2b(f"{seed} {case.task} {case.sql}".encode()).digest() for case in cases}
    left = {kind: sorted((c for c in cases if c.kind == kind), key=rank.__getitem__) for kind in KINDS}
    kinds = sorted(
        (kind for kind in KINDS if left[kind]), key=lambda kind: hashlib.blake2b(f"{seed} {kind}".encode()).digest()
    )
    drawn: list[Case] = []
    while len(drawn) < number and any(left.values()):
        for kind in kinds:
            if left[kind] and len(drawn) < number:
                taken = Counter(case.task for case in drawn)
                drawn.append(min(left[kind], key=lambda case: (taken[case.task], rank[case])))
                left[kind].remove(drawn[-1])
    tasks = {case.task for case in drawn}
    return drawn + [case for case in sorted(cases, key=rank.__getitem__) if not case.kind and case.task in tasks]


def table(cases: Sequence[Case]) -> str:
    """Detection by kind, and false alarms, in all and by half."""
    heads = [
        f"{part}{which}" for part in ("", *(f"{half}: " for half in HALVES)) for which in ("n", "failed", "or noted")
    ]
    lines = [_line(["fault", *heads]), _line(["---"] * (len(heads) + 1))]
    planted = [case for case in cases if case.kind]
    groups = [(kind, [case for case in planted if case.kind == kind]) for kind in KINDS]
    groups += [("all faults", planted), ("none (false alarms)", [case for case in cases if not case.kind])]
    for name, those in groups:
        if those:
            halves = [those, *([case for case in those if case.half == half] for half in HALVES)]
            lines.append(_line([name, *(cell for half in halves for cell in _shares(half))]))
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _shares(cases: Sequence[Case]) -> tuple[str, str, str]:
    if not cases:
        return "0", "", ""
    shares = [sum(case.failed for case in cases), sum(case.flagged for case in cases)]
    return str(len(cases)), *(f"{share / len(cases):.0%}" for share in shares)  # type: ignore[return-value]


def alarms(cases: Sequence[Case]) -> str:
    """By check: faults that it failed and noted, and right queries."""
    counted: dict[str, Counter[str]] = {}
    for case in cases:
        for name, outcome in {(check.name, check.outcome) for check in case.checks if check.outcome != "passed"}:
            counted.setdefault(name, Counter())[f"{'fault' if case.kind else 'right'} {outcome}"] += 1
    heads = ("fault failed", "right failed", "fault noted", "right noted")
    lines = ["", _line(["check", *heads]), _line(["---"] * 5)]
    lines += [_line([name, *(counts[head] for head in heads)]) for name, counts in sorted(counted.items())]
    return "\n".join(lines)


def missed(cases: Sequence[Case]) -> str:
    """Faults that no check failed, and right queries that one did."""
    lines = []
    for case in cases:
        if case.failed == (not case.kind):
            said = [
                f"{check.outcome} {check.name}: {check.detail}" for check in case.checks if check.outcome != "passed"
            ]
            what = f"MISSED {case.kind}" if case.kind else "FALSE ALARM"
            lines += [
                f"\n{what} · {case.task}",
                f"  {case.question}",
                f"  {case.sql}",
                *(f"    {text}" for text in said),
            ]
    return "\n".join(lines)


def told(case: Case) -> dict[str, object]:
    """The case as JSON data."""
    checks = [check.model_dump() for check in case.checks]
    return {**{name: getattr(case, name) for name in ("task", "half", "kind", "question", "sql")}, "checks": checks}


def of_data(data: Mapping[str, Any]) -> Case:
    """The case that `told` wrote."""
    return Case(**{**data, "checks": tuple(Check.model_validate(check) for check in data["checks"])})


def is_good(cases: Sequence[Case]) -> bool:
    """At least 60 % of the faults found, at most 5 % of the right queries failed."""
    planted, right = ([case for case in cases if bool(case.kind) is which] for which in (True, False))
    found, cried = sum(case.failed for case in planted), sum(case.failed for case in right)
    return found >= 0.6 * len(planted) and cried <= 0.05 * len(right)
