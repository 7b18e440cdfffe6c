"""approved candidate → audit of its final form: columns, rows, repeats, order, format; what it means is not opened again."""

from __future__ import annotations

from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit, Obligation
from tasks.core.sections import SolverSettings
from tasks.solve.auditing import form, history
from tasks.solve.auditing.ask import ask, failed, guarded, unlooked
from tasks.solve.auditing.form import ROLE, FormReply
from tasks.solve.auditing.request import fits
from tasks.stage import stage

OFF = "the form was not audited by a model (verify.model is false)"
_KEEP = "Hand in the same result in that form: keep its sources, filters, joins, measures and level of detail."


@stage(roles=(ROLE,), prompts=("verify.md",))
async def verify_answer(
    given: Assignment, attempt: Attempt, checked: Checked, audit: Audit | None, limits: SolverSettings
) -> Audit:
    """One look at the form of a candidate that `audit`, the last one of its process, approved; code first. A rejection asks for another form alone.

    Its ledger is the process validator's, unchanged: ask that one's last audit for it.
    """
    opening = Audit(
        kind="answer",
        steps=len(attempt.steps),
        candidate=attempt.chosen,
        verdict="not_assessed",
        fingerprint=checked.fingerprint,
        shape=checked.shape,
    )

    async def look() -> Audit:
        settings = limits.verify
        if not settings.enabled:
            return unlooked(opening, "switched off: verify.enabled is false")
        if audit is None or audit.verdict != "approved" or audit.fingerprint != checked.fingerprint:
            return unlooked(opening, "the process behind this candidate is not approved")
        if checked.table is None or attempt.candidate is None:
            return unlooked(opening, "there is no answer to look at")
        if _is_approved(given, checked):
            return opening.model_copy(update={"verdict": "approved"})
        if not settings.model:
            return unlooked(opening, OFF)
        if history.is_spent(given, "answer", settings.review_budget):
            return unlooked(opening, f"the review budget is used up (verify.review_budget is {settings.review_budget})")
        return await _asked(opening, given, attempt, checked, audit)

    return await guarded(look(), opening)


async def _asked(opening: Audit, given: Assignment, attempt: Attempt, checked: Checked, audit: Audit) -> Audit:
    for chars in form.KNOWLEDGE_CHARS:
        text = form.request(given, attempt, checked, audit, chars)
        if fits(text, ROLE):
            break
    else:
        return unlooked(opening, "the request is too long for the validator's model, however much is left out")
    said = await ask(ROLE, text, FormReply, form.read)
    if said.value is None:
        return failed(opening, said)
    rejected = said.value.verdict == "rejected"
    return opening.model_copy(
        update={
            "verdict": said.value.verdict,
            "issues": said.value.issues,
            "actions": (Obligation(text=_KEEP, opened_at=opening.steps),) * rejected,
            "asked": True,
            "spends": rejected,
            "usage": said.usage,
        }
    )


def _is_approved(given: Assignment, checked: Checked) -> bool:
    """Whether this very answer, content and form, was approved before."""
    last = history.last_of(given, "answer")
    same = last is not None and (last.fingerprint, last.shape) == (checked.fingerprint, checked.shape)
    return bool(last and same and checked.fingerprint and checked.shape and last.verdict == "approved")
