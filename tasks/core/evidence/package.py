"""what was given, tried and measured → the evidence of one answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from pydantic import JsonValue

from tasks.core.evidence import checks, drawn, folded, lineage
from tasks.core.evidence.rows import Tally
from tasks.core.models.answer import Assignment, Attempt, JoinAudit, Status
from tasks.core.models.context import TableRelevanceResult
from tasks.core.models.evidence import (
    AnswerCell,
    Check,
    DrawnUse,
    Evidence,
    Origin,
    Outline,
    Replay,
    Solving,
    StageUsage,
    UsedTable,
)
from tasks.core.models.run import Usage

_LATE = "not read in time"
"""Of a file of which the time left a part."""


@dataclass(frozen=True)
class Findings:
    """What the replay and its measurements gave; empty when there was nothing to replay."""

    replay: Replay | None = None
    parts: Outline = field(default_factory=Outline)
    tally: Tally | None = None
    joins: tuple[JoinAudit, ...] = ()
    cells: tuple[AnswerCell, ...] = ()
    casts: tuple[Check, ...] = ()
    """How the query reads text."""


def look(given: Assignment, attempt: Attempt, found: Findings) -> tuple[Check, ...]:
    """All checks of the answer; none without a replay."""
    used = lineage.used_tables(found.parts, found.replay.sql, given.catalogue) if found.replay else ()
    return tuple(_checks(attempt, found, used))


def package(
    given: Assignment,
    attempt: Attempt,
    found: Findings,
    verdict: tuple[Status, str],
    models: dict[str, dict[str, JsonValue]],
) -> Evidence:
    """The evidence, with no time, place or secret in it."""
    used = lineage.used_tables(found.parts, found.replay.sql, given.catalogue) if found.replay else ()
    made = tuple(_checks(attempt, found, used))
    uses = drawn.uses(used, given.catalogue)
    sources = lineage.origins(given.catalogue)
    return Evidence(
        question=given.question,
        status=verdict[0],
        reason=verdict[1],
        contract=attempt.contract.model_copy(update={"usage": attempt.contract.usage.whoever_paid()}),
        replay=found.replay,
        outline=found.parts,
        used=used,
        drawn=uses,
        cells=found.cells,
        joins=found.joins,
        statements=lineage.statements(used, given.question.text, given.knowledge, given.catalogue),
        checks=made,
        doubts=(*_cut_short(given), *_doubts(attempt, made, sources, uses), *folded.doubts(given)),
        sources=sources,
        relevance=_relevance(given),
        folded=tuple(folded.tables(given, used)),
        solving=_solving(attempt),
        models=models,
        usage=tuple(_usage(given, attempt)),
        versions={name: _version(name) for name in ("tablewright", "duckdb")},
    )


def _checks(attempt: Attempt, found: Findings, used: tuple[UsedTable, ...]) -> Iterator[Check]:
    if found.replay is None:
        return
    yield checks.replay_equal(found.replay)
    yield from checks.tables_whole(used)
    if found.tally is None:
        return
    yield from found.casts
    contract, replay, tally = attempt.contract, found.replay, found.tally
    for made in (
        checks.some_rows(tally),
        checks.columns_match(contract, replay.columns),
        checks.empty_columns(replay.columns, tally),
        checks.repeated_rows(contract, tally),
        checks.no_formulas(replay.columns, tally),
        checks.within_limits(contract, replay),
        checks.order_fixed(contract, found.parts, replay),
    ):
        if made:
            yield made
    yield from checks.join_losses(found.joins)


def _doubts(
    attempt: Attempt, made: tuple[Check, ...], sources: tuple[Origin, ...], uses: tuple[DrawnUse, ...]
) -> Iterator[str]:
    """What speaks against taking the answer at its word, the gravest first."""
    yield from (check.detail for check in made if check.outcome == "failed")
    if attempt.agreement is not None and attempt.agreement < 1 and attempt.candidate:
        yield f"{attempt.candidate.votes} of {attempt.samples} samples gave this result; the others gave something else"
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
        yield StageUsage(stage=spent.stage, calls=spent.calls, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)
    for stage, usage in (("contract", given.contract.usage), ("agent", attempt.usage)):
        if usage != Usage():
            calls = usage.whoever_paid().calls
            yield StageUsage(stage=stage, calls=calls, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
