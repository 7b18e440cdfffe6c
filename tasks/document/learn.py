"""lesson → extraction patterns: a model sees a few texts and writes expressions, which code runs over all of them."""

from __future__ import annotations

from pathlib import Path

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import door
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.document import PlanColumn
from tasks.core.models.patterns import Learned, Lesson
from tasks.document.learning.reply import PatternsReply, patterns_of
from tasks.stage import stage

PROMPT = Path(__file__).parent / "prompts" / "patterns.md"
_FIRST = "Texts of records, one a line, chosen for their different wordings:"
_LATER = "Sentences, one a line, of which no expression explains so far what stands in ⟦ ⟧ (no part of the text); write further ones for that alone:"


@stage(roles=("patterns",), prompts=("patterns.md",))
async def learn_patterns(lesson: Lesson) -> Learned:
    """Patterns for a lesson. A model that gives nothing usable gives none: the records are read by slices then."""
    wanted = [column.name for column in lesson.columns[1:]]
    try:
        asked = await door.ask("patterns", [{"role": "user", "content": prompt(lesson)}], PatternsReply, samples=1)
    except BudgetError as error:
        return Learned(problems=(error.told,), unsettled="stopped")
    except ModelError as error:
        return Learned(problems=(error.told,), unsettled=error.unsettled)
    patterns, problems = patterns_of(asked.value, wanted)
    return Learned(patterns=patterns, problems=(*asked.problems, *problems), usage=asked.usage)


def prompt(lesson: Lesson) -> str:
    """The text that asks for patterns."""
    columns = "\n".join(_described(column) for column in lesson.columns[1:])
    return fill(
        PROMPT,
        columns=fence(f"{columns}\n\n{lesson.rules}" if lesson.rules else columns),
        shown=_FIRST if lesson.first else _LATER,
        texts=fence("\n".join(lesson.texts)),
    )


def _described(column: PlanColumn) -> str:
    meanings = "; ".join(dict.fromkeys(filter(None, (column.doc_meaning.strip(), column.task_meaning.strip()))))
    return f"{column.name} ({column.type}): {' '.join(meanings.split())}"
