"""attempt + what code found of its candidate → audit of the process: does the evidence carry the answer?

Code looks first and may reject alone. A model that fails gives no verdict: nobody has looked then.
"""

from __future__ import annotations

from dataclasses import replace

from tasks.core.auditing import ProcessSettings
from tasks.core.evidence.observed import Known, text_of
from tasks.core.evidence.outline import outline
from tasks.core.evidence.trajectory import Submitted, collect
from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.evidence import Checked
from tasks.core.models.review import Audit, EvidencePackage
from tasks.core.sections import SolverSettings
from tasks.core.sql.engine import Engine
from tasks.solve.auditing import duties, history, reply, short
from tasks.solve.auditing.ask import ask, failed, guarded, unlooked
from tasks.solve.auditing.bycode import confirmed, refused
from tasks.solve.auditing.pinned import definitions
from tasks.solve.auditing.readings import better, run_readings
from tasks.solve.auditing.reply import ProcessReply
from tasks.solve.auditing.request import ROLE, Audited, fits, knowledge_lines, limits_of, request
from tasks.solve.auditing.short import ShortReply
from tasks.solve.auditing.shown import seen
from tasks.stage import stage

_OTHER = "Hand in the query of that reading, or the same one again with confirm = true and the reason for it."
OFF = "not audited by a model (process.model is false)"


@stage(roles=(ROLE,), prompts=("process.md", "process_short.md"))
async def audit_process(given: Assignment, attempt: Attempt, checked: Checked, limits: SolverSettings) -> Audit:
    """One look at the attempt as it stands: at a candidate, or (`attempt.due` is `checkpoint`) at the way to one.

    The verdict is `approved` only when a model found the evidence to carry the answer with this fingerprint.
    """
    on_the_way = attempt.due == "checkpoint"
    opening = Audit(
        kind="checkpoint" if on_the_way else "candidate",
        steps=len(attempt.steps),
        verdict="not_assessed",
        candidate=None if on_the_way else attempt.chosen,
        fingerprint="" if on_the_way else checked.fingerprint,
        shape="" if on_the_way else checked.shape,
    )
    return await guarded(_audit(opening, given, attempt, checked, limits), opening)


async def _audit(
    opening: Audit, given: Assignment, attempt: Attempt, checked: Checked, limits: SolverSettings
) -> Audit:
    """What code alone can say, or else what the model says."""
    settings = limits.process
    before = history.last_of(given, *history.PROCESS, asked=True)
    package = _package(given, attempt, settings)
    settled = duties.settled(before, attempt, package, Known(given.catalogue, given.knowledge.path))
    opening = opening.model_copy(update={"ledger": history.ledger(given), "package": package, "settled": settled})
    if not settings.enabled:
        return unlooked(opening, "switched off: process.enabled is false")
    if opening.kind == "candidate":
        if attempt.candidate is None:
            return unlooked(opening, "there is no candidate")
        if by_code := refused(opening, given, attempt, checked) or confirmed(opening, given, attempt, checked):
            return by_code
    if not settings.model:
        return unlooked(opening, OFF)
    if opening.kind == "candidate" and history.is_spent(given, "candidate", settings.review_budget):
        return unlooked(opening, f"the review budget is used up (process.review_budget is {settings.review_budget})")
    return await _asked(opening, given, attempt, checked, limits)


async def _asked(
    opening: Audit, given: Assignment, attempt: Attempt, checked: Checked, limits: SolverSettings
) -> Audit:
    """The verdict of the model, on as much as it can read."""
    audited = Audited(opening.kind, given, attempt, checked, opening.package, opening.ledger, opening.settled)
    text, package, is_short = _written(audited, limits.process)
    if not text:
        return unlooked(opening, "the request is too long for the validator's model, however much is left out")
    opening = opening.model_copy(update={"package": package})
    ids, lines = {item.id for item in package.items} | seen(given.brief.text), knowledge_lines(given)
    if is_short:
        said = await ask(ROLE, text, ShortReply, lambda reply_text: short.read(reply_text, ids))
    else:
        said = await ask(ROLE, text, ProcessReply, lambda written: reply.read(written, ids, lines, opening.ledger))
    if said.value is None:
        return failed(opening, said)
    judged = said.value
    ledger, why = judged.ledger, ""
    if opening.kind == "candidate" and any(each.readings for each in ledger.unresolved_ambiguities):
        async with Engine.over(given.catalogue, limits.query) as engine:
            ledger = await run_readings(ledger, engine)
        why = better(ledger, given, attempt) if judged.verdict == "approved" else ""
    wanted = ((_OTHER, ()),) if why else judged.actions
    rejected = bool(why) or judged.verdict == "rejected"
    return opening.model_copy(
        update={
            "verdict": "rejected" if why else judged.verdict,
            "issues": (why,) if why else judged.issues,
            "actions": duties.opened(wanted, Known(given.catalogue, given.knowledge.path), opening.steps),
            "ledger": ledger,
            "asked": True,
            "spends": rejected and opening.kind == "candidate",
            "usage": said.usage,
        }
    )


def _written(audited: Audited, settings: ProcessSettings) -> tuple[str, EvidencePackage, bool]:
    """The request with as much as its model can read, the package in it, and whether it is the short one; empty where none fits."""
    for tighter in limits_of(settings):
        package = _package(audited.given, audited.attempt, tighter)
        text = request(replace(audited, package=package), tighter)
        if fits(text, most=settings.request_tokens):
            return text, package, False
    if audited.kind == "candidate":
        package = short.tables_of(audited.package)
        for tokens in short.TOKENS:
            text = short.request(replace(audited, package=package), tokens)
            if fits(text, most=settings.request_tokens):
                return text, package, True
    return "", audited.package, False


def _package(given: Assignment, attempt: Attempt, settings: ProcessSettings) -> EvidencePackage:
    """Evidence for the submission; on the way to one, for all that was queried."""
    candidate = None if attempt.due == "checkpoint" else attempt.candidate
    known, tokens = Known(given.catalogue, given.knowledge.path), settings.string_tokens
    if candidate is None:
        queries = [sql for step in attempt.steps if step.ok and (sql := text_of(step.arguments.get("sql")))]
        return collect(attempt.steps, known, settings, None, definitions(given, queries, tokens))
    sql = candidate.submission.sql
    tables = frozenset(known.table(name) for name in outline(sql).tables)
    return collect(attempt.steps, known, settings, Submitted(sql, tables), definitions(given, (sql,), tokens))
