"""document + knowledge → plan: columns, sections, anchors, and the records that code counts with them.

No question takes part, so one plan serves every question.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from tasks.core.errors import BudgetError, ModelError
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.document import Converted, Plan
from tasks.core.models.run import Usage
from tasks.core.models.semantics import Knowledge
from tasks.core.sections import PlanSettings
from tasks.document.planning import check, mend, prompt, rules
from tasks.document.planning.reply import PlanReply
from tasks.stage import stage

MOST_COLUMNS = 2000
"""As SQLite is built."""
PROMPT = Path(__file__).parent / "prompts" / "plan.md"


@stage(roles=("plan",), prompts=("plan.md",))
async def plan_document(document: Converted, knowledge: Knowledge, settings: PlanSettings) -> Plan:
    """How the document becomes a table; `failed` with the reasons when it cannot become one."""
    if document.text is None:
        return _failed(document.stem, (f"the document has no text: {document.reason or document.status}",))
    text = stores.current().get(document.text).decode("utf-8")
    lines = text.split("\n")
    if settings.writer == "rules":
        return _narrow(await asyncio.to_thread(rules.plan, document.stem, lines, knowledge))
    return _narrow(await _asked(document.stem, lines, knowledge, settings))


def _narrow(plan: Plan) -> Plan:
    """Failed where no table could hold its columns, before they are paid for."""
    if (count := len(plan.columns)) <= MOST_COLUMNS:
        return plan
    problem = f"the plan has {count:,} columns, and a table holds {MOST_COLUMNS:,}"
    return plan.model_copy(update={"failed": True, "problems": (problem, *plan.problems)})


async def _asked(stem: str, lines: list[str], knowledge: Knowledge, settings: PlanSettings) -> Plan:
    """The model's plan; after the last turn what is still wrong is mended by code, or the plan has failed."""
    text = prompt.prompt(PROMPT, stem, lines, knowledge, settings)
    messages: list[door.Message] = [{"role": "user", "content": text}]
    usage = Usage()
    checked: check.Checked | None = None
    stopped: ModelError | BudgetError | None = None
    for turn in range(settings.retries + 1):
        try:
            asked = await door.ask("plan", messages, PlanReply, samples=1)
        except (BudgetError, ModelError) as error:
            stopped = error
            break
        usage += asked.usage
        checked = await asyncio.to_thread(check.check, asked.value, stem, lines, knowledge)
        if not checked.problems or turn == settings.retries:
            break
        messages += [
            {"role": "assistant", "content": asked.texts[-1]},
            {"role": "user", "content": check.complaint(checked.problems)},
        ]
    if checked is None:
        assert stopped is not None
        cause = stopped.unsettled if isinstance(stopped, ModelError) else "stopped"
        return _failed(stem, (stopped.told,), usage).model_copy(update={"unsettled": cause, "written_by": "model"})
    plan = await asyncio.to_thread(mend.mend, checked, stem, lines, knowledge)
    more = (f"no second turn: {stopped.message}",) if stopped and checked.problems else ()
    return plan.model_copy(update={"usage": usage, "problems": plan.problems + more})


def _failed(stem: str, problems: tuple[str, ...], usage: Usage = Usage()) -> Plan:  # noqa: B008
    return Plan(
        stem=stem, key="", columns=(), sections=(), anchors=(), universe=(), problems=problems, failed=True, usage=usage
    )
