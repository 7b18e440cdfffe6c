"""an answer's query + what the run was given → checks of what it computes against what was asked, by code alone.

`failed` is said only where it is nearly surely wrong; a remark is `noted`. Nothing is said where all is well.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from tasks.core.models.answer import Assignment, Contract, JoinAudit
from tasks.core.models.evidence import Check
from tasks.core.sql.engine import Engine
from tasks.solve.checking import gaps, grain, measures, sources, thresholds, typed
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
)
_COUNTED: tuple[Count, ...] = (
    grain.multiplied,
    grain.repeated,
    grain.merged,
    grain.ties,
    gaps.dropped,
    gaps.uncounted,
    gaps.null_trap,
    gaps.elsewhere,
)


async def audit_answer(
    engine: Engine, given: Assignment, contract: Contract, sql: str, joins: tuple[JoinAudit, ...]
) -> tuple[Check, ...]:
    """Checks that failed or have something to note; none for a query that sqlglot cannot read.

    `given` is the whole of what there is to query, `contract` as the solver left it, `joins` as they were measured.
    Measuring takes at most the engine's seconds.
    """
    tree, _ = parse(sql)
    if tree is None:
        return ()
    facts = Facts(
        question=given.question.text,
        contract=contract,
        tree=tree,
        profile=given.profile,
        said=_said(given, contract),
        joins=joins,
    )
    counts = Measuring(engine, tree)
    found = [check for look in _READ if (check := look(facts))]
    for count in _COUNTED:
        if check := await count(facts, counts):
            found.append(check)
    return tuple(dict.fromkeys(found))


def _said(given: Assignment, contract: Contract) -> str:
    """What the knowledge states, without the examples of values that it gives, and the contract's conditions."""
    lines = (_EXAMPLES.sub("", line) for line in given.knowledge.text.splitlines())
    return "\n".join([*lines, *(part.text for part in contract.filters)])
