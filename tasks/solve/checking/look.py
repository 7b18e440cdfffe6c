"""an answer's query + what the run was given → checks of what it computes against what was asked, by code alone.

`failed` is said only where it is nearly surely wrong; a remark is `noted`. Nothing is said where all is well.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from tasks.core.evidence.checks import UNMADE
from tasks.core.models.answer import Assignment, Contract, JoinAudit
from tasks.core.models.evidence import Check
from tasks.core.sql.engine import Engine
from tasks.solve.checking import (
    days,
    defined,
    digits,
    documents,
    each,
    gaps,
    grain,
    holes,
    measures,
    pieces,
    shares,
    sources,
    things,
    thresholds,
    totals,
    typed,
    units,
    variants,
)
from tasks.solve.checking.facts import Facts
from tasks.solve.checking.measuring import Measuring
from tasks.solve.mending.dialect import parse

Look = Callable[[Facts], Check | None]
_EXAMPLES = re.compile(r"(?i)\b(?:examples?|e\.g\.|for example)\b.*|(?:例如|示例|例|比如)[:：]?.*")
Count = Callable[[Facts, Measuring], Awaitable[Check | None]]
_READ: tuple[Look, ...] = (
    thresholds.said_numbers,
    thresholds.unsaid_years,
    thresholds.direction,
    thresholds.averages,
    thresholds.scale,
    measures.measure,
    measures.summed,
    measures.extreme,
    measures.sorting,
    measures.cut,
    defined.computed,
    defined.said_column,
    defined.counted_things,
    sources.join_keys,
    sources.needless,
    sources.kept,
    sources.similar,
    sources.similar_table,
    typed.typed_output,
    typed.typed_cell,
    typed.empty_handed,
    typed.said_texts,
    typed.unused_texts,
    documents.taken_back,
    units.asked_unit,
    days.text_of_days,
)
_COUNTED: tuple[Count, ...] = (
    grain.multiplied,
    grain.repeated,
    grain.merged,
    grain.ties,
    each.per_thing,
    things.counted_records,
    pieces.pieces,
    digits.digits,
    shares.shares,
    gaps.dropped,
    gaps.unknown,
    gaps.uncounted,
    gaps.null_trap,
    gaps.elsewhere,
    gaps.unlike,
    holes.lossy,
    holes.thin,
    holes.first_empty,
    documents.unproven,
    variants.variants,
    totals.totals,
)


async def audit_answer(
    engine: Engine, given: Assignment, contract: Contract, sql: str, joins: tuple[JoinAudit, ...]
) -> tuple[Check, ...]:
    """Checks that failed or have something to note; one that breaks is noted as not made, and so is a query that nothing can read.

    `given` is the whole of what there is to query, `contract` as the solver left it, `joins` as they were measured.
    Measuring takes at most the engine's seconds.
    """
    tree, _ = parse(sql)
    if tree is None:
        detail = "the query could be run but not taken apart, so nobody checked by code what it computes"
        return (Check(name="unread query", outcome="noted", detail=detail),)
    facts = Facts(
        question=given.question.text,
        contract=contract,
        tree=tree,
        profile=given.profile,
        said=_said(given, contract),
        joins=joins,
        metrics=given.knowledge.metrics,
        drawn=tuple(table for table in given.catalogue.tables if table.drawn),
    )
    counts = Measuring(engine, tree)
    found = [await made(look.__name__, look, facts) for look in _READ]
    found += [await made(count.__name__, count, facts, counts) for count in _COUNTED]
    return tuple(dict.fromkeys(check for check in found if check))


async def made(name: str, check: Callable[..., Check | Awaitable[Check | None] | None], *given: object) -> Check | None:
    """What a check says. The door of checks: one that breaks is said, and neither hides the others nor ends the run."""
    try:
        said = check(*given)
        return await said if isinstance(said, Awaitable) else said
    except Exception as error:  # noqa: BLE001 - the door of validators: no failure may pass for a verdict
        detail = f"the check {name.replace('_', ' ')!r} could not be made ({type(error).__name__})"
        return Check(name=UNMADE, outcome="noted", detail=detail)


def _said(given: Assignment, contract: Contract) -> str:
    """What the knowledge states, without the examples of values that it gives, and the contract's conditions."""
    lines = (_EXAMPLES.sub("", line) for line in given.knowledge.text.splitlines())
    return "\n".join([*lines, *(part.text for part in contract.filters)])
