"""knowledge + column → what it says about that column and about values at large."""

from __future__ import annotations

from tasks.core.models.document import Plan, PlanColumn
from tasks.core.models.semantics import Knowledge
from tasks.document.planning.fields import definitions, speaks_of, within

_CHARS = 1500


def told(knowledge: Knowledge, column: PlanColumn, plan: Plan) -> str:
    """Its definitions and the rules that name it, then rules that name no column of the plan; at most 1,500 characters."""
    defined = [
        f"{item.field}: {item.meaning} {f'[{item.unit}]' if item.unit else ''}".strip()
        for item in definitions(plan.stem, knowledge)
        if item.field.casefold() == column.name.casefold()
    ]
    own = [rule.text.strip() for rule in knowledge.rules if speaks_of(rule.text, column.name)]
    large = [r.text.strip() for r in knowledge.rules if not any(speaks_of(r.text, c.name) for c in plan.columns)]
    return within([*defined, *own, *large], _CHARS)
