"""question + what is known + previews → prompts that the model can read and answer at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.core.llm import door, tokens, votes
from tasks.core.llm.prompts import fence, fill
from tasks.core.models.answer import Question
from tasks.core.models.semantics import Knowledge
from tasks.core.search.passages import passages
from tasks.core.sections import RelevanceSettings
from tasks.solve.judging.preview import Preview

PROMPT = Path(__file__).parents[1] / "prompts" / "relevance.md"
VERDICT_TOKENS = 40
"""Of a reply, for one table."""
_KNOWN_SHARE = 0.5
"""Most that question, knowledge and video may take of what the model reads."""
_VIDEO = "\n\nText of the task's videos that may concern it; it points to fields and rules:\n"


@dataclass(frozen=True)
class Frame:
    """Everything of a prompt but its tables."""

    question: str
    knowledge: str
    video: str
    room: int
    """Tokens that are left for tables."""
    most: int
    """Tables that one reply can judge."""

    def filled(self, shown: Sequence[Preview]) -> str:
        """The prompt of every round on these tables."""
        listed = fence("\n\n".join(preview.text for preview in shown))
        video = _VIDEO + fence(self.video) if self.video else ""
        return fill(
            PROMPT,
            question=fence(self.question),
            knowledge=fence(self.knowledge or "(none)"),
            video=video,
            tables=listed,
            count=str(len(shown)),
        )

    def batches(self, shown: Sequence[Preview], most: int) -> list[list[Preview]]:
        """The previews in order, in at most so many prompts; those beyond are left out."""
        found: list[list[Preview]] = []
        left = 0
        for preview in shown:
            cost = tokens.count(preview.text) + 1
            if not found or cost > left or len(found[-1]) == self.most:
                if len(found) == most:
                    break
                found.append([])
                left = self.room
            found[-1].append(preview)
            left -= cost
        return found


def frame(question: Question, knowledge: Knowledge, video: str, settings: RelevanceSettings) -> Frame:
    """The knowledge and the video by relevance, and shorter than their settings where the model reads little."""
    role = door.current().settings.role("relevance")
    room = votes.room("relevance")
    known, seen = settings.knowledge_chars, settings.video_chars
    while True:
        made = Frame(
            question=question.text,
            knowledge=passages(question.text, knowledge.text, known),
            video=passages(question.text, video.strip(), seen) if video.strip() else "",
            room=room,
            most=max(1, role.max_tokens // VERDICT_TOKENS),
        )
        taken = tokens.count(made.filled(()))
        if taken <= room * _KNOWN_SHARE or known + seen < 100:
            return Frame(made.question, made.knowledge, made.video, max(room - taken, VERDICT_TOKENS), made.most)
        known, seen = known // 2, seen // 2
