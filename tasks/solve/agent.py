"""assignment → attempt: opens the catalogue, lets the solver work in its style, and keeps every step and candidate."""

from __future__ import annotations

from pathlib import Path

from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.answer import Assignment, Attempt
from tasks.core.models.run import Usage
from tasks.core.sections import SolverSettings
from tasks.core.sql.engine import Engine
from tasks.solve.showing.contract import contract_text
from tasks.solve.showing.layout import one_line
from tasks.solve.solving import single, tools
from tasks.solve.solving.bench import Bench
from tasks.solve.solving.dialogue import Dialogue
from tasks.solve.solving.reading import documents, remarks
from tasks.solve.solving.styles import ROLE, STYLES
from tasks.solve.solving.transcript import Transcript
from tasks.stage import stage

PROMPTS = Path(__file__).parent / "prompts"
_LISTED_DOCUMENTS = 40
_NOTE_CHARS = 160


@stage(roles=("agent", "greedy"), prompts=("agent.md", "assignment.md", "json.md", "tools.md", "bare.md", "single.md"))
async def solve_question(given: Assignment, limits: SolverSettings) -> Attempt:
    """One attempt in the style of the settings. It always ends with an Attempt, whatever the model does.

    What a budget or a dead endpoint cut short is marked as unsettled and tried again by the next run. One that waits for
    the table of a document (`wanted`) is no end: given that table it comes to the same point and goes on.
    """
    if limits.agent.style in ("single", "bare"):
        async with Engine.over(given.catalogue, limits.query) as engine:
            if limits.agent.style == "single":
                return await single.solve_single(given, engine, limits)
            from tasks.solve.solving import bare

            return await bare.solve_bare(given, engine, limits)
    bench = Bench(given, Engine.over(given.catalogue, limits.query), limits, given.contract)
    dialogue = Dialogue(bench, STYLES[limits.agent.style](), Transcript(_opening(bench), _room()))
    try:
        ended = await dialogue.run()
    finally:
        await bench.engine.close()
    if dialogue.transcript.shortened:
        dialogue.problems.append(
            f"{dialogue.transcript.shortened} older results were shortened to fit the model's context"
        )
    if ended not in ("submitted", "audit") and bench.candidates:
        dialogue.problems.append("no submission was confirmed; the best one so far is kept")
    return Attempt(
        style=limits.agent.style,
        steps=tuple(dialogue.steps),
        candidates=tuple(bench.candidates),
        chosen=len(bench.candidates) - 1 if dialogue.due == "candidate" else bench.best,
        contract=bench.contract,
        ended=ended,
        wanted=dialogue.wanted,
        due=dialogue.due,
        problems=tuple(dict.fromkeys(dialogue.problems)),
        usage=sum((step.usage for step in dialogue.steps), Usage()),
        unsettled=dialogue.unsettled,
        tier=bench.tier,
    )


def _opening(bench: Bench) -> list[dict[str, str]]:
    """The rules as system message, the assignment as the user's."""
    given, style = bench.assignment, bench.limits.agent.style
    offered = tools.offered(bench)
    protocol = fill(PROMPTS / f"{style}.md", **({"tools": tools.manual(offered)} if style == "json" else {}))
    rules = fill(PROMPTS / "agent.md", protocol=protocol, turns=str(bench.limits.agent.turns))
    notes = remarks(bench)
    listed = [
        f"{path} ({lines} lines{f'; {one_line(notes[path], _NOTE_CHARS)}' if path in notes else ''})"
        for path, lines in documents(bench).items()
    ]
    more = [f"and {len(listed) - _LISTED_DOCUMENTS} more"] * (len(listed) > _LISTED_DOCUMENTS)
    task = fill(
        PROMPTS / "assignment.md",
        question=fence(given.question.text),
        brief=fence(given.brief.text),
        contract=fence(contract_text(bench.contract) or "open: work out from the question what the answer must hold"),
        documents=fence("\n".join([*listed[:_LISTED_DOCUMENTS], *more]) or "none"),
    )
    return [{"role": "system", "content": rules}, {"role": "user", "content": task}]


def _room() -> int:
    """Tokens that a prompt of the agent may have: what its model reads at once, less the reply."""
    role = door.current().settings.role(ROLE)
    return role.context_tokens - role.max_tokens
