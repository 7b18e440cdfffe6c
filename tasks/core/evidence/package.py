"""what was given, tried and measured → the evidence of one answer."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from pydantic import JsonValue

from tasks.core.evidence import drawn, folded, lineage
from tasks.core.models.answer import Assignment, Attempt, Status
from tasks.core.models.context import TableRelevanceResult
from tasks.core.models.evidence import (
    Check,
    Checked,
    DrawnUse,
    Evidence,
    Origin,
    Solving,
    StageUsage,
)
from tasks.core.models.review import Audit, AuditKind
from tasks.core.models.run import StageSpend, Usage

_LATE = "not read in time"
"""Of a file of which the time left a part."""


def package(
    given: Assignment,
    attempt: Attempt,
    found: Checked,
    verdict: tuple[Status, str],
    models: dict[str, dict[str, JsonValue]],
) -> Evidence:
    """The evidence, with no time, place or secret in it."""
    used = lineage.used_tables(found.outline, found.replay.sql, given.catalogue) if found.replay else ()
    uses = drawn.uses(used, given.catalogue)
    sources = lineage.origins(given.catalogue)
    return Evidence(
        question=given.question,
        status=verdict[0],
        reason=verdict[1],
        contract=attempt.contract.model_copy(update={"usage": attempt.contract.usage.whoever_paid()}),
        replay=found.replay,
        outline=found.outline,
        used=used,
        drawn=uses,
        cells=found.cells,
        joins=found.joins,
        statements=lineage.statements(used, given.question.text, given.knowledge, given.catalogue),
        checks=found.checks,
        audits=tuple(map(_shown, given.audits)),
        doubts=(
            *_cut_short(given),
            *_open(given, found),
            *_doubts(attempt, found.checks, sources, uses),
            *folded.doubts(given),
        ),
        sources=sources,
        relevance=_relevance(given),
        folded=tuple(folded.tables(given, used)),
        solving=_solving(attempt),
        models=models,
        usage=tuple(_usage(given, attempt)),
        versions={name: _version(name) for name in ("tablewright", "duckdb")},
    )


def _shown(audit: Audit) -> Audit:
    """Without the excerpts, which the steps hold too, and without who paid."""
    items = tuple(item.model_copy(update={"excerpt": ""}) for item in audit.package.items)
    return audit.model_copy(
        update={"package": audit.package.model_copy(update={"items": items}), "usage": audit.usage.whoever_paid()}
    )


def _doubts(
    attempt: Attempt, made: tuple[Check, ...], sources: tuple[Origin, ...], uses: tuple[DrawnUse, ...]
) -> Iterator[str]:
    """What speaks against taking the answer at its word, the gravest first."""
    yield from (check.detail for check in made if check.outcome == "failed")
    if attempt.agreement is not None and attempt.agreement < 1 and attempt.candidate:
        others = attempt.samples - attempt.candidate.votes - attempt.silent
        said = ["the others gave something else" if not attempt.silent else f"{others} gave something else"] * bool(
            others
        )
        said += [f"{attempt.silent} gave no query that runs"] * bool(attempt.silent)
        yield f"{attempt.candidate.votes} of {attempt.samples} samples gave this result; {', '.join(said)}"
    yield from drawn.doubts(uses)
    yield from (check.detail for check in made if check.outcome == "noted")
    yield from map(_first_line, attempt.problems)
    yield from (f"writing down the expected answer: {_first_line(text)}" for text in attempt.contract.problems)
    unreadable = [file for file in sources if file.outcome == "unreadable"]
    yield from (f"{file.path} could not be read: {file.reason}" for file in unreadable)
    yield from (f"{file.path}: {file.reason}" for file in sources if file.outcome == "table" and _LATE in file.reason)


def _cut_short(given: Assignment) -> Iterator[str]:
    for why in given.catalogue.stopped:
        yield f"drawing tables from documents ended before it was done, and a run later may bring more: {_first_line(why)}"


def _open(given: Assignment, found: Checked) -> Iterator[str]:
    """Readings that the sources leave open, as validators of this very answer named them last."""
    of = [a for a in given.audits if a.kind == "candidate" and a.asked and a.fingerprint == found.fingerprint]
    for ambiguity in of[-1].ledger.unresolved_ambiguities if of else ():
        named = " or ".join(reading.text for reading in ambiguity.readings if reading.digest)
        own = found.replay.digest if found.replay else ""
        taken = next((reading.text for reading in ambiguity.readings if reading.digest and reading.digest == own), "")
        if named:
            follows = f"the answer follows: {taken}" if taken else "the answer is neither of the two"
            yield f"the question can be read in two ways, and no source decides: {named}; {follows}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip(" :")


def _solving(attempt: Attempt) -> Solving:
    return Solving(
        **attempt.model_dump(include={"style", "ended", "chosen", "samples", "problems", "tier"}),
        agreement=attempt.agreement,
        candidates=attempt.candidates,
        steps=tuple(step.model_copy(update={"usage": step.usage.whoever_paid()}) for step in attempt.steps),
    )


def _relevance(given: Assignment) -> TableRelevanceResult | None:
    judged = given.relevance
    return judged and judged.model_copy(update={"usage": judged.usage.whoever_paid()})


def _usage(given: Assignment, attempt: Attempt) -> Iterator[StageUsage]:
    for spent in (*given.catalogue.drawing, *given.choosing):
        yield StageUsage(stage=spent.stage, calls=spent.calls, **_tokens(spent))
    audits: dict[AuditKind, Usage] = {}
    for audit in given.audits:
        audits[audit.kind] = audits.get(audit.kind, Usage()) + audit.usage
    process = audits.get("checkpoint", Usage()) + audits.get("candidate", Usage())
    usages = {
        "contract": given.contract.usage,
        "agent": attempt.usage,
        "process": process,
        "verify": audits.get("answer", Usage()),
    }
    for stage, usage in usages.items():
        if usage != Usage():
            calls = usage.whoever_paid().calls
            yield StageUsage(stage=stage, calls=calls, **_tokens(usage))


def _tokens(spent: Usage | StageSpend) -> dict[str, int]:
    return {name: getattr(spent, name) for name in ("tokens_in", "tokens_cached", "tokens_out")}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
