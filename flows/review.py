"""attempt that waits for validators → what they say: the process first, then the form of what it came to."""

from __future__ import annotations

from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit
from tasks.core.settings import Settings
from tasks.solve.check import check_candidate
from tasks.solve.process import audit_process
from tasks.solve.publishing.status import verdicts
from tasks.solve.verify import verify_answer


async def review(given: Assignment, attempt: Attempt, checked: Checked, settings: Settings) -> tuple[Audit, ...]:
    """One audit on the way; of a candidate one of its process, and where that approves it one of its form.

    An approved process is not audited again for a candidate that differs in display alone.
    """
    if attempt.due == "checkpoint":
        return (await audit_process(given, attempt, checked, settings.solver),)
    said: tuple[Audit, ...] = ()
    process, _ = verdicts(given.audits, attempt.chosen, checked)
    if settings.process.enabled and (process is None or process.verdict != "approved"):
        process = await audit_process(given, attempt, checked, settings.solver)
        said = (process,)
    if settings.verify.enabled and process and process.verdict == "approved":
        said = (*said, await verify_answer(given, attempt, checked, process, settings.solver))
    return said


async def check(given: Assignment, attempt: Attempt, settings: Settings) -> Checked:
    """What code says about the chosen candidate; nothing where there is none, or none is handed in yet."""
    if attempt.candidate is None or attempt.due == "checkpoint":
        return Checked()
    bare = given.model_copy(update={"audits": ()})
    return await check_candidate(bare, attempt.candidate, attempt.contract, settings.solver, settings.publish)
