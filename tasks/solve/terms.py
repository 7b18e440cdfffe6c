"""question + metadata → terms to search for: words of the question, the whole question, and what a model adds by kind."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door, tokens
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.answer import Question
from tasks.core.models.context import Terms
from tasks.core.models.metadata import Metadata
from tasks.core.models.semantics import Knowledge
from tasks.core.search.keywords import keywords
from tasks.core.search.passages import passages
from tasks.core.search.words import words
from tasks.core.sections import RecallSettings
from tasks.stage import stage

PROMPT = Path(__file__).parent / "prompts" / "recall.md"
_KNOWLEDGE_CHARS, _VIDEO_CHARS, _TABLE_CHARS = 4000, 3000, 160
_TABLES_TOKENS = 3000
_KEPT, _TERM_CHARS = 12, 80
"""Most terms of one kind that are used, and their length: more of them dilute the search."""


class TermsReply(BaseModel):
    """Further search terms, by kind."""

    columns: list[str] = Field(default=[], description="names or descriptions that the needed columns may have")
    metrics: list[str] = Field(default=[], description="names of the measures that are asked for")
    values: list[str] = Field(default=[], description="texts that may stand in the cells that are filtered by")


@stage(roles=("recall",), prompts=("recall.md",))
async def write_terms(
    question: Question, metadata: Metadata, knowledge: Knowledge, video_text: str, settings: RecallSettings
) -> Terms:
    """Keywords by code, the whole question last; a model's terms where `settings.expand`, or a `problem` why not."""
    found = Terms(question=question.text, keywords=keywords(question.text, _names(metadata)))
    if not settings.expand:
        return found
    messages = [{"role": "user", "content": prompt(question, metadata, knowledge, video_text)}]
    try:
        asked = await door.ask("recall", messages, TermsReply, samples=1)
    except BudgetError as error:
        return found.model_copy(update={"problem": error.told, "unsettled": "stopped"})
    except ModelError as error:
        return found.model_copy(update={"problem": error.told, "unsettled": error.unsettled})
    reply = asked.value
    added = {name: _kept(getattr(reply, name), question.text) for name in ("columns", "metrics", "values")}
    problem = "" if any(added.values()) else "the model named no further term"
    return found.model_copy(update={**added, "expanded": not problem, "problem": problem, "usage": asked.usage})


def prompt(question: Question, metadata: Metadata, knowledge: Knowledge, video_text: str) -> str:
    """The request for terms: the tables' names and meanings as far as they fit, those of the question first."""
    role = door.current().settings.role("recall")
    room = min(_TABLES_TOKENS, (role.context_tokens - role.max_tokens) // 2)
    said = passages(question.text, knowledge.text, _KNOWLEDGE_CHARS)
    shown = passages(question.text, video_text, _VIDEO_CHARS)
    video = f"\nText of the video that explains the task:\n{fence(shown)}\n" if shown else ""
    return fill(
        PROMPT,
        question=fence(question.text),
        tables=fence(_overview(question.text, metadata, room)),
        knowledge=fence(said or "(nothing)"),
        video=video,
    )


def _overview(question: str, metadata: Metadata, room: int) -> str:
    asked = words(question)
    lines = []
    for table in metadata.tables:
        told = "; ".join(part for part in (table.description, ", ".join(table.aliases)) if part)
        line = " ".join(f"- {table.name}: {told}".split())[:_TABLE_CHARS] if told else f"- {table.name}"
        lines.append((-len(words(line) & asked), line))
    kept: list[str] = []
    for _, line in sorted(lines, key=lambda item: item[0]):
        room -= tokens.count(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join(kept + [f"(and {left} more tables)"] * bool(left)) or "(none)"


def _kept(terms: list[str], question: str) -> tuple[str, ...]:
    """Each once, without blanks around, none that is the whole question again."""
    plain = (" ".join(term.split())[:_TERM_CHARS] for term in terms)
    return tuple(dict.fromkeys(term for term in plain if term and term != question))[:_KEPT]


def _names(metadata: Metadata) -> frozenset[str]:
    """Texts that the catalogue knows: names, aliases and example values."""
    found: set[str] = set()
    for table in metadata.tables:
        found |= {table.name, *table.aliases}
    for column in metadata.columns:
        found |= {column.name, *column.aliases, *(column.examples if column.type == "VARCHAR" else ())}
    for metric in metadata.metrics:
        found |= {metric.name, *metric.aliases}
    return frozenset(found)
