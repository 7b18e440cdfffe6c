"""an answer's query + what the run was given → checks of what it computes against what was asked, by code alone.

`failed` is said only where it is nearly surely wrong; a remark is `noted`. Nothing is said where all is well.
"""

from __future__ import annotations

from collections.abc import Callable

from tasks.core.models.answer import Assignment, Contract, JoinAudit
from tasks.core.models.evidence import Check
from tasks.core.sql.engine import Engine
from tasks.solve.checking.facts import Facts
from tasks.solve.mending.dialect import parse

Look = Callable[[Facts], Check | None]
_PURE: tuple[Look, ...] = ()


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
    found = [check for look in _PURE if (check := look(facts))]
    return tuple(dict.fromkeys(found))


def _said(given: Assignment, contract: Contract) -> str:
    return "\n".join([given.knowledge.text, *(part.text for part in contract.filters)])
