"""attempt that waits for validators → what they say: the process first, then the form of what it came to."""

from __future__ import annotations

from flows.running import draft
from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit
from tasks.core.settings import Settings
from tasks.solve.check import check_candidate
from tasks.solve.process import audit_process
from tasks.solve.verify import verify_answer


async def review(given: Assignment, attempt: Attempt, checked: Checked, settings: Settings) -> tuple[Audit, ...]:
    """One audit on the way; of a candidate one of its process, and where that approves it one of its form.

    A process that was approved is not read again for a candidate that differs in display alone; code looks at each.
    """
    process = await audit_process(given, attempt, checked, settings.solver)
    if process.kind == "checkpoint" or process.verdict != "approved":
        return (process,)
    return process, await verify_answer(given, attempt, checked, process, settings.solver)


async def check(given: Assignment, attempt: Attempt, settings: Settings) -> Checked:
    """What code says about the chosen candidate; nothing where there is none, or none is handed in yet."""
    if attempt.candidate is None or attempt.due == "checkpoint":
        return Checked()
    bare = given.model_copy(update={"audits": ()})
    checked = await check_candidate(bare, attempt.candidate, attempt.contract, settings.solver, settings.publish)
    draft.keep(checked)
    return checked
