"""what is to be audited → the request to the process validator, cut until its model can read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.core.auditing import ProcessSettings
from tasks.core.llm import door, structured
from tasks.core.llm.prompts import fence, fill
from tasks.core.llm.tokens import count
from tasks.core.models.answer import Assignment, Attempt, Step
from tasks.core.models.evidence import Checked
from tasks.core.models.review import AuditKind, EvidencePackage, Ledger, Obligation
from tasks.core.search.passages import passages
from tasks.solve.auditing import shown
from tasks.solve.auditing.pinned import told_within, within
from tasks.solve.showing.contract import contract_text
from tasks.solve.showing.layout import one_line

ROLE = "process"
PROMPT = Path(__file__).parents[1] / "prompts" / "process.md"
_MARGIN = 0.9
"""Our token counts are estimates: this much of the model's context is used."""
_LADDER = ((1.0, 1.0), (0.4, 0.5), (0.1, 0.3), (0.04, 0.15), (0.02, 0.08), (0.01, 0.04), (0.008, 0.01), (0.005, 0.0))
"""Shares of the settings' limits for one text, and for items and steps, tried until the request fits."""
_KNOWLEDGE_CHARS, _SAID_CHARS, _ARGUMENT_CHARS = 24_000, 200, 240
_NUMBERED = re.compile(r"\d+: ")
_MODES: dict[str, str] = {
    "candidate": "The solver has handed in a submission. Judge whether its answer is supported.",
    "checkpoint": (
        "There is no answer yet. Judge the direction alone: reject only when the path has left the question, or rests on "
        "an assumption that would spoil the answer and that nothing on the path is going to test. What is merely not "
        "done yet is no issue."
    ),
}


@dataclass(frozen=True)
class Audited:
    """All that one request is made of."""

    kind: AuditKind
    given: Assignment
    attempt: Attempt
    checked: Checked
    package: EvidencePackage
    ledger: Ledger
    duties: tuple[Obligation, ...] = ()


def limits_of(settings: ProcessSettings) -> Iterator[ProcessSettings]:
    """The settings, and tighter ones for a model that reads less."""
    for of_text, of_lists in _LADDER:
        yield settings.model_copy(
            update={
                "string_tokens": max(int(settings.string_tokens * of_text), 50),
                "list_items": max(int(settings.list_items * of_lists), 4),
                "evidence_items": max(int(settings.evidence_items * of_lists), 4),
                "recent_steps": int(settings.recent_steps * of_lists),
            }
        )


def fits(text: str, role: str = ROLE, most: int = 0) -> bool:
    """Whether the role's model can read a prompt, of `most` tokens where that is not 0, and still has room for its reply."""
    limits = door.current().settings.role(role)
    room = limits.context_tokens - limits.max_tokens
    return count(text) <= min(room, most or room) * _MARGIN


def request(audited: Audited, limits: ProcessSettings) -> str:
    """The prompt: what is data stands in fences."""
    given, attempt, package = audited.given, audited.attempt, audited.package
    contract = contract_text(attempt.contract) or "open"
    revised = [f"revised by the solver: {one_line(reason, _SAID_CHARS)}" for reason in attempt.contract.revisions]
    chars = min(_KNOWLEDGE_CHARS, limits.string_tokens * 3)
    return fill(
        PROMPT,
        mode=_MODES[audited.kind],
        question=fence(f"{given.question.text}\n(asked as of {given.question.as_of})"),
        contract=fence("\n".join([contract, *revised])),
        answer=fence(shown.answer(audited.checked, attempt) if audited.kind == "candidate" else "none yet"),
        measured=fence("\n".join(_measured(audited.checked, limits.string_tokens * 3)) or "nothing"),
        knowledge=fence(numbered_knowledge(given, chars) or "none"),
        video=fence(shown.video(given.brief.text) or "none"),
        evidence=fence("\n\n".join(map(shown.item, package.items)) or "none"),
        omitted=fence("\n".join(shown.omitted(package)) or "none"),
        ledger=fence(_ledger(audited.ledger)),
        duties=fence("\n".join(map(shown.duty, audited.duties)) or "none"),
        steps=fence("\n".join(_steps(attempt.steps, package, limits.recent_steps)) or "none"),
    )


def _measured(checked: Checked, tokens: int) -> list[str]:
    """What code measured; where not all of it fits, what failed or was noted before what is well, and how much is left out."""
    lines = list(shown.measured(checked))
    if len(within(lines, tokens)) < len(lines):
        lines.sort(key=lambda line: ", passed: " in line)
    return told_within(lines, tokens)


def knowledge_lines(given: Assignment) -> int:
    """Lines of the knowledge, which a claim may cite."""
    return len(given.knowledge.text.splitlines())


def numbered_knowledge(given: Assignment, chars: int) -> str:
    """The knowledge with numbered lines, those of the question where not all of it fits."""
    numbered = [f"{number}: {line}" for number, line in enumerate(given.knowledge.text.splitlines(), 1) if line.strip()]
    kept = passages(given.question.text, "\n".join(numbered), chars)
    lost = len(numbered) - sum(_NUMBERED.match(line) is not None for line in kept.splitlines())
    return f"{kept}\n… ({lost} more lines left out here)" if lost else kept


def _ledger(ledger: Ledger) -> str:
    if ledger == Ledger():
        return "none: this is the first round"
    kept = ledger.model_dump(mode="json", exclude={"unresolved_ambiguities"})
    kept["unresolved_ambiguities"] = [each.text for each in ledger.unresolved_ambiguities]
    return json.dumps(kept, ensure_ascii=False, indent=1)


def _steps(steps: tuple[Step, ...], package: EvidencePackage, recent: int) -> Iterator[str]:
    """One line each: what the model said and called, what a tool was asked, and where its result stands."""
    ids = {item.trace_step_index: item.id for item in package.items if item.tool != "profile"}
    earlier = max(len(steps) - recent, 0)
    if earlier:
        yield f"({earlier} earlier steps left out here)"
    for step in steps[earlier:]:
        if step.kind == "model":
            said = one_line(structured.drop_thinking(step.result), _SAID_CHARS)
            yield f"{step.index} model: {said}"
            continue
        asked = one_line(json.dumps(step.arguments, ensure_ascii=False), _ARGUMENT_CHARS)
        end = f"failed: {one_line(step.result, _SAID_CHARS)}" if not step.ok else "ok"
        where = f", see {ids[step.index]}" if step.ok and step.index in ids else ""
        yield f"{step.index} {step.name} {asked}: {end}{where}"
