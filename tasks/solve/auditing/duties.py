"""required actions + later evidence → those that are done, cannot be done, or are still due; by rule, no model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tasks.core.evidence import observed
from tasks.core.evidence.observed import Known
from tasks.core.evidence.outline import outline
from tasks.core.models.answer import Attempt, Step
from tasks.core.models.review import Audit, EvidenceItem, EvidencePackage, Obligation

_DRAWING = ("extract_document", "read_document")
"""Tools whose refusal is the last word on a document."""
_KNOWLEDGE = "knowledge"
"""How validators cite it, with a line or without."""
_FAILURES = 2
"""Failing looks at a source, and none that worked, that show it cannot be had."""


def opened(wanted: Iterable[tuple[str, Sequence[str]]], known: Known, steps: int) -> tuple[Obligation, ...]:
    """Actions with the sources they are about; one about columns that their tables lack is impossible from the start."""
    found = []
    for text, names in wanted:
        sources = tuple(dict.fromkeys(source for name in names if (source := _known(name, known))))
        lost = bool(names) and not sources and all(_lacks(name, known) for name in names)
        found.append(Obligation(text=text, sources=sources, opened_at=steps, status="impossible" if lost else "open"))
    return tuple(found)


def settled(audit: Audit | None, attempt: Attempt, package: EvidencePackage, known: Known) -> tuple[Obligation, ...]:
    """The audit's actions as they stand after the steps since; a changed submission is evidence of what it reads."""
    if audit is None:
        return ()
    changed = _changed(audit, attempt)
    return tuple(
        _settled(duty, attempt.steps, package.items, known, changed) if duty.status == "open" else duty
        for duty in audit.actions
    )


def _settled(
    duty: Obligation, steps: Sequence[Step], items: Sequence[EvidenceItem], known: Known, changed: str
) -> Obligation:
    later = [item for item in items if item.tool != "profile" and item.trace_step_index >= duty.opened_at]
    if not duty.sources:
        proof = later[-1].id if later else "submission" if changed else ""
        return _closed(duty, proof) if proof else duty
    proofs = [
        next((item.id for item in later if _is_about(item, source)), "submission" if _reads(changed, source) else "")
        for source in duty.sources
    ]
    if all(proofs):
        return _closed(duty, proofs[-1])
    missing = [source for source, proof in zip(duty.sources, proofs, strict=True) if not proof]
    if all(_is_refused(source, duty.opened_at, steps, known) for source in missing):
        return duty.model_copy(update={"status": "impossible", "evidence": f"step_{steps[-1].index}"})
    return duty


def _closed(duty: Obligation, proof: str) -> Obligation:
    return duty.model_copy(update={"status": "closed", "evidence": proof})


def _changed(audit: Audit, attempt: Attempt) -> str:
    """The submission's query where it is not the one that the audit was of."""
    candidate, at = attempt.candidate, audit.candidate
    if candidate is None or at == attempt.chosen:
        return ""
    before = attempt.candidates[at].submission if at is not None and at < len(attempt.candidates) else None
    now = candidate.submission
    return "" if before and (before.sql, before.program) == (now.sql, now.program) else now.sql


def _known(name: str, known: Known) -> str:
    """`table`, `table.column` or path, spelled as the catalogue does; empty for what it lacks."""
    if found := known.path(name) or known.table(name):
        return found
    if name.strip().casefold().partition(":")[0] == _KNOWLEDGE:
        return known.knowledge
    table, _, column = name.strip().rpartition(".")
    held = known.catalogue.table(table.strip().strip('"'))
    wanted = column.strip().strip('"').casefold()
    spelled = next((each.name for each in held.columns if each.name.casefold() == wanted), "") if held else ""
    return f"{held.name}.{spelled}" if held and spelled else ""


def _lacks(name: str, known: Known) -> bool:
    """Whether a name is that of a column which a table of ours does not have."""
    return bool(known.table(name.strip().rpartition(".")[0]))


def _is_about(item: EvidenceItem, source: str) -> bool:
    if source in item.source.split(", "):
        return True
    table, _, column = source.rpartition(".")
    if not table or table not in item.source.split(", "):
        return False
    sql = observed.text_of(item.request.get("sql"))
    return column.casefold() in item.excerpt.casefold() if not sql else _names(sql, column)


def _reads(sql: str, source: str) -> bool:
    """Whether a query reads a table, or that column of it."""
    if not sql:
        return False
    tables = {name.casefold() for name in outline(sql).tables}
    if source.casefold() in tables:
        return True
    table, _, column = source.rpartition(".")
    return table.casefold() in tables and _names(sql, column)


def _names(sql: str, column: str) -> bool:
    return bool({"*", column.casefold()} & {name.casefold() for _, name in outline(sql).columns})


def _is_refused(source: str, since: int, steps: Sequence[Step], known: Known) -> bool:
    table = source if known.table(source) else source.rpartition(".")[0]
    looks = [
        step
        for step in steps
        if step.index >= since and step.kind == "tool" and {source, table} & set(observed.about(step, known))
    ]
    failed = [step for step in looks if not step.ok]
    return len(failed) == len(looks) and (len(failed) >= _FAILURES or any(step.name in _DRAWING for step in failed))
