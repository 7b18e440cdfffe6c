"""question + documents + knowledge → verdicts: which documents hold something that the answer needs.

All documents stand in one prompt, so that the model can compare them; a document without text is shown as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tasks.core.files import store as stores
from tasks.core.llm import ballots, tokens, votes
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.answer import Question
from tasks.core.models.document import Converted, Verdicts
from tasks.core.models.semantics import Knowledge
from tasks.core.search.passages import passages
from tasks.core.sections import VoteSettings
from tasks.stage import stage

PROMPT = Path(__file__).parent / "prompts" / "relevance.md"
_VIDEO = "\n\nText of the task's videos that may concern it; it points to fields, documents and rules:\n"


@stage(roles=("relevance",), prompts=("relevance.md",))
async def judge_documents(
    question: Question, documents: tuple[Converted, ...], knowledge: Knowledge, settings: VoteSettings, video: str = ""
) -> Verdicts:
    """The vote on the documents, by stem. Without a usable round all are relevant, and `error` says why.

    `video` is what of the videos' text concerns the question.
    """
    stems = tuple(document.stem for document in documents)
    if not settings.enabled or not stems:
        update = {"task_id": question.task_id, "reasons": dict.fromkeys(stems, "voting is off: all are relevant")}
        return ballots.aggregate(stems, (), 0).model_copy(update=update)
    messages = [{"role": "user", "content": prompt(question, documents, knowledge, settings, video)}]
    verdicts = await votes.vote("relevance", messages, votes.Slate(stems), settings)
    return verdicts.model_copy(update={"task_id": question.task_id})


def prompt(
    question: Question, documents: Sequence[Converted], knowledge: Knowledge, settings: VoteSettings, video: str = ""
) -> str:
    """The prompt of every round. Previews get shorter, all alike, when the model could not read them at once."""
    room = votes.room("relevance")
    texts = {document.stem: _text(document) for document in documents}
    told = passages(question.text, knowledge.text, settings.knowledge_chars)
    count, width = settings.preview_lines, settings.preview_chars
    while True:
        previews = "\n\n".join(preview(document, texts[document.stem], count, width) for document in documents)
        text = fill(
            PROMPT,
            question=fence(question.text),
            knowledge=fence(told or "(none)") + (_VIDEO + fence(video) if video else ""),
            documents=previews,
            count=str(len(documents)),
        )
        if tokens.count(text) <= room or (count == 1 and width <= 40):
            return text
        count, width = (count // 2, width) if count > 1 else (1, width // 2)


def preview(document: Converted, text: str, lines: int, chars: int) -> str:
    """The document's name, which is data too, and its first lines, each cut; or why it has none."""
    head = f"doc_name: {document.stem.replace(chr(10), ' ')}"
    if not text.strip():
        reason = document.reason or document.status.replace("_", " ")
        return fence(f"{head}\n(no preview: {reason}; its content is unknown)")
    rows = text.split("\n")
    shown = [row[:chars] + "…" * (len(row) > chars) for row in rows[:lines]]
    more = len(rows) - len(shown)
    tail = [f"({more} more lines)"] * bool(more)
    return fence("\n".join([f"{head} ({len(rows)} lines)", *shown, *tail]))


def _text(document: Converted) -> str:
    return stores.current().get(document.text).decode("utf-8") if document.text else ""
