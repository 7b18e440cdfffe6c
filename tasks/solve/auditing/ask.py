"""request → a validator's reply, read; whatever goes wrong is told as a failure, and never counts as a pass."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from tasks.core.errors import BudgetError, ModelError, TablewrightError
from tasks.core.llm import door
from tasks.core.models.review import Audit
from tasks.core.models.run import Usage
from tasks.solve.showing.layout import one_line

T = TypeVar("T")
_TRIES = 2
"""Replies asked for, each with the repair turns of its role."""
_CHARS = 400


@dataclass(frozen=True)
class Said(Generic[T]):
    """What came back: a value, or the problem for which there is none."""

    value: T | None
    usage: Usage
    problem: str = ""
    unsettled: Literal["", "stopped", "transient"] = ""


async def ask(role: str, text: str, reply_model: type[BaseModel], read: Callable[[str], T]) -> Said[T]:
    """One reply that `read` takes, in two tries; `read` raises Invalid for a reply that it does not take.

    The door of validators: every error, also one of ours, is a problem that the audit names.
    """
    problem, unsettled = "", ""
    for number in range(_TRIES):
        try:
            asked = await door.current().ask_read(
                role,
                [{"role": "user", "content": text}],
                reply_model,
                lambda reply: read(reply.text),
                samples=range(number, number + 1),
            )
            return Said(asked.value, asked.usage.whoever_paid())
        except BudgetError as error:
            return Said(None, Usage(), problem=one_line(error.message, _CHARS), unsettled="stopped")
        except ModelError as error:
            problem, unsettled = error.message, error.unsettled
            if error.transient:
                break
        except TablewrightError as error:
            return Said(None, Usage(), problem=one_line(error.message, _CHARS), unsettled="stopped")
        except Exception as error:  # noqa: BLE001 - the door of validators: no failure may pass for a verdict
            problem, unsettled = f"{type(error).__name__}: {error}", "stopped"
    return Said(None, Usage(), problem=one_line(problem, _CHARS), unsettled=_cause(unsettled))


async def guarded(look: Awaitable[Audit], opening: Audit) -> Audit:
    """The audit that is being made; `opening`, without a verdict, where making it breaks: nobody has looked then, and the run goes on."""
    try:
        return await look
    except Exception as error:  # noqa: BLE001 - the door of validators: no failure may pass for a verdict
        problem = one_line(f"the validator broke: {type(error).__name__}: {error}", _CHARS)
        return opening.model_copy(update={"verdict": "not_assessed", "problem": problem, "unsettled": "stopped"})


def unlooked(opening: Audit, problem: str) -> Audit:
    """The audit without a verdict, and why there is none."""
    return opening.model_copy(update={"verdict": "not_assessed", "problem": problem})


def failed(opening: Audit, said: Said[Any]) -> Audit:
    """The same where no reply could be used."""
    made = unlooked(opening, f"the validator failed: {said.problem}")
    return made.model_copy(update={"unsettled": said.unsettled, "usage": said.usage})


def _cause(word: Any) -> Literal["", "stopped", "transient"]:
    return "transient" if word == "transient" else "stopped"
