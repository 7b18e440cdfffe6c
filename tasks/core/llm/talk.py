"""Request and a reader of its replies → valid values: empty, refused, cut-off and invalid replies each in their way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from tasks.core.asking import RoleSettings
from tasks.core.errors import ModelError
from tasks.core.llm import budget, tokens
from tasks.core.llm.replies import EMPTY_TRIES, Source
from tasks.core.llm.request import Reply, Request
from tasks.core.llm.said import shorten
from tasks.core.llm.structured import Invalid
from tasks.core.models.run import Usage

T = TypeVar("T")
_LEAST_ROOM = 16
"""Tokens; a prompt that leaves less for the reply does not fit."""
_WIDER = 4
"""How much longer a reply may be that is asked for again after it was cut off."""
_ECHO_CHARS = 6000
"""Of a reply that is shown to the model again in a repair turn."""
_REPAIR = """\
Your last reply could not be used.
{problem}
Reply again with the complete, corrected result only: no explanation, no fence."""


class UnusableError(ModelError):
    """Replies came, and none can be used: cut off, empty or not as asked for; another request may fare better."""

    def __init__(self, message: str, hint: str, replies: int, usage: Usage) -> None:
        super().__init__(message, hint)
        self.replies = replies
        """Of the last round."""
        self.usage = usage
        """Of all rounds."""

    def __reduce__(self) -> tuple[type[UnusableError], tuple[str, str, int, Usage]]:  # type: ignore[override]
        return type(self), (self.message, self.hint, self.replies, self.usage)


@dataclass
class Talk(Generic[T]):
    """One question under way, until it has values."""

    request: Request
    role: RoleSettings
    read: Callable[[Reply], T]
    """Raises Invalid."""
    replies: tuple[Reply, ...] = ()
    """Of the last round."""
    values: tuple[T, ...] = ()
    usage: Usage = field(default_factory=Usage)
    problems: tuple[str, ...] = ()
    _complaint: str = ""
    """Why the first reply of the last round is not valid, for the model."""

    async def run(self, source: Source) -> None:
        """Ask; when no sample is valid, ask for a longer reply if it was cut off, then for repairs.

        Raises UnusableError when there is still none, ModelError when the model refuses.
        """
        await self._round(source)
        if not self.values and self._cut and (wider := self._wider()):
            self.problems += (f"cut off at {self.request.max_tokens} tokens, asked again for {wider.max_tokens}",)
            self.request = wider
            await self._round(source)
        for _ in range(self.role.repairs):
            if self.values or self._cut or not (repaired := self._repaired()):
                break
            self.request = repaired
            await self._round(source)
        if not self.values:
            raise self._unusable()

    async def _round(self, source: Source) -> None:
        for attempt in range(EMPTY_TRIES):
            batch = await source.replies(self.request, attempt)
            self.replies = batch.replies
            self.usage += batch.usage
            self.problems += tuple(note for note in batch.notes if note not in self.problems)
            if not all(reply.empty for reply in self.replies):
                break
            self.problems += ("empty reply",)
        if all(reply.refused for reply in self.replies):
            words = next((reply.refusal for reply in self.replies if reply.refusal), "stopped by a content filter")
            raise ModelError(
                f"the model refuses to answer for role {self.request.role!r}: {shorten(words)}",
                "ask in other words, or choose another model",
            )
        self._read()

    def _read(self) -> None:
        values: list[T] = []
        self._complaint = ""
        for index, reply in enumerate(self.replies, start=1):
            try:
                if reply.refused:
                    raise Invalid(f"The model refuses: {reply.refusal[:300] or 'content filter'}")
                values.append(self.read(reply))
            except Invalid as problem:
                self._complaint = self._complaint or str(problem)
                self.problems += (f"reply {index} of {len(self.replies)} is not usable: {problem}",)
        self.values = tuple(values)

    @property
    def _cut(self) -> bool:
        return all(reply.finish == "length" for reply in self.replies)

    def _wider(self) -> Request | None:
        """The request with room for a longer reply, where the context has it."""
        wider = within(self.request, self.role.context_tokens, self.request.max_tokens * _WIDER)
        return wider if wider and wider.max_tokens > self.request.max_tokens else None

    def _repaired(self) -> Request | None:
        """The request after its first reply and what is wrong with it; None when that no longer fits."""
        first = self.replies[0]
        shown = first.text or "\n".join(f"{name}({arguments})" for _, name, arguments in first.calls) or "(empty)"
        turns = (
            {"role": "assistant", "content": shown[:_ECHO_CHARS]},
            {"role": "user", "content": _REPAIR.format(problem=self._complaint)},
        )
        request = replace(self.request, messages=(*self.request.messages, *turns))
        return within(request, self.role.context_tokens, request.max_tokens)

    def _unusable(self) -> UnusableError:
        last = self.problems[-1] if self.problems else "no reply"
        if self._cut:
            last = f"the reply was cut off at {self.request.max_tokens} tokens"
        return UnusableError(
            f"no usable reply for role {self.request.role!r} in stage {budget.current_stage()!r}: {last}",
            f"raise max_tokens or repairs in [roles.{self.request.role}], or choose a stronger model",
            len(self.replies),
            self.usage,
        )


def within(request: Request, context: int, wanted: int) -> Request | None:
    """The request with at most `wanted` reply tokens; None when its prompt leaves no room for a reply in the context."""
    room = context - tokens.count_messages(list(request.messages))
    return replace(request, max_tokens=min(wanted, room)) if room >= min(wanted, _LEAST_ROOM) else None
