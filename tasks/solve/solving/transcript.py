"""The conversation of an attempt → a prompt that fits the model: old tool results are shortened first, and say so."""

from __future__ import annotations

from typing import Any

from tasks.core.llm.tokens import count, count_messages

_MARGIN = 0.9
"""Our token counts are estimates: this much of the model's context is used."""
_TARGET = 0.7
"""Once too long, it is cut to this share at once: a provider's prompt cache is lost once, not with every turn."""
_SHORT_CHARS = 200
_KEPT = 2
"""Latest results that are never shortened."""


class Transcript:
    """Messages in order; `results` among them may be shortened."""

    def __init__(self, opening: list[dict[str, Any]], room: int) -> None:
        """`room`: tokens that a prompt may have."""
        self._messages = list(opening)
        self._results: list[int] = []
        self._room = int(room * _MARGIN)
        self.shortened = 0
        """Results that the model no longer sees whole."""

    def say(self, message: dict[str, Any]) -> None:
        """Add a message that stays whole."""
        self._messages.append(message)

    def tell(self, message: dict[str, Any]) -> None:
        """Add a tool's result, or several in one message."""
        self._results.append(len(self._messages))
        self._messages.append(message)

    def prompt(self, extra: int = 0) -> list[dict[str, Any]]:
        """The messages, within the room that `extra` tokens of other things leave; as many results shortened as needed."""
        room = self._room - extra
        if self._size() > room:
            for index in self._results[:-_KEPT]:
                if self._size() <= room * _TARGET:
                    break
                self._shorten(index)
        return list(self._messages)

    def _size(self) -> int:
        calls = sum(count(str(message["tool_calls"])) for message in self._messages if message.get("tool_calls"))
        return count_messages(self._messages) + calls

    def _shorten(self, index: int) -> None:
        message = self._messages[index]
        text = message["content"]
        if len(text) <= _SHORT_CHARS * 2:
            return
        head = text[:_SHORT_CHARS].rstrip()
        bar = text[: len(text) - len(text.lstrip("~"))]
        note = f"… ({len(text) - len(head)} more signs of this result were dropped; repeat the call to see them)"
        self._messages[index] = {**message, "content": "\n".join(part for part in (head, bar, note) if part)}
        self.shortened += 1
