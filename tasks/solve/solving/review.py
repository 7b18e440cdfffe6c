"""where an attempt stands + what validators said → how it goes on; until they have said it, the end of the attempt.

A stage takes values only, so it cannot ask a validator itself. It ends with what is due, and the flow begins it again with
what was said: the journal answers every turn up to there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tasks.core.llm.prompts import fence
from tasks.core.models.review import Audit
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.observe import Observation

_REJECTED = (
    "Not accepted: reviewers found what stands above. Do what they require, then submit again; "
    "if something cannot be done, say why in the reason."
)
_ON_THE_WAY = "Reviewers of your work so far found this. Mind it before you submit:\n"


class Due(Exception):
    """The attempt waits for validators."""

    def __init__(self, kind: Literal["checkpoint", "candidate"]) -> None:
        super().__init__(kind)
        self.kind = kind


def of_candidate(bench: Bench, index: int) -> Observation | None:
    """What the solver gets back for a candidate; None where it stands. Raises Due when nobody has looked at it yet."""
    limits = bench.limits
    if bench.last_turn or not (limits.process.enabled or limits.verify.enabled):
        return None
    said = [audit for audit in bench.assignment.audits if audit.candidate == index]
    if not said:
        if _spent(bench, index):
            return None
        raise Due("candidate")
    bench.heard += len(said)
    refused = [audit for audit in said if audit.verdict == "rejected"]
    if not refused:
        return None
    bench.rejected.add(index)
    return Observation(_listed(refused), _REJECTED, ok=False)


def on_the_way(bench: Bench, steps: int, turns: int) -> str | None:
    """What to tell the solver between two turns: empty where nobody minds, None where nobody looked. Raises Due.

    `turns` are those since anybody looked.
    """
    limits = bench.limits.process
    if not limits.enabled or not limits.model or turns < limits.checkpoint_model_interval or _spent(bench, None):
        return None
    said = next((a for a in bench.assignment.audits if a.kind == "checkpoint" and a.steps == steps), None)
    if said is None:
        raise Due("checkpoint")
    bench.heard += 1
    return _ON_THE_WAY + fence(_listed([said])) if said.verdict == "rejected" else ""


def _spent(bench: Bench, index: int | None) -> bool:
    """Whether the budgets for rejections are used up; of what was said before the candidate at `index`."""
    limits = bench.limits
    before = [a for a in bench.assignment.audits if index is None or a.candidate is None or a.candidate < index]
    process = sum(audit.spends for audit in before if audit.kind == "candidate")
    verify = sum(audit.spends for audit in before if audit.kind == "answer")
    return process > limits.process.review_budget or verify > limits.verify.review_budget


def _listed(said: Sequence[Audit]) -> str:
    issues = dict.fromkeys(issue for audit in said for issue in audit.issues)
    actions = dict.fromkeys(each.text for audit in said for each in audit.actions if each.status == "open")
    lines = ["Issues:", *(f"- {issue}" for issue in issues)] if issues else []
    lines += ["Required:", *(f"- {action}" for action in actions)] if actions else []
    return "\n".join(lines) or "They gave no reason."
