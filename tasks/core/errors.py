"""Every error of ours, named by who must act."""

from __future__ import annotations

from typing import Literal

Away = Literal["", "lost", "never there"]


class TablewrightError(Exception):
    """Base of all; `str()` says what and where, `hint` says the next step."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[TablewrightError], tuple[str, str]]:
        return type(self), (self.message, self.hint)

    def __str__(self) -> str:
        return f"{self.message}\n  next: {self.hint}" if self.hint else self.message

    @property
    def told(self) -> str:
        """Message and next step on one line, for a result that goes on without what failed and keeps the reason."""
        return f"{self.message}; next: {self.hint}" if self.hint else self.message


class InputError(TablewrightError):
    """The user must act: folder, question, configuration or disk."""

    exit_code = 2


class ModelError(TablewrightError):
    """The model gave no usable reply after the retries and repairs that its settings allow."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "", transient: bool = False, away: Away = "") -> None:
        super().__init__(message, hint)
        self.transient = transient
        """True when the endpoint could not be reached or was busy: the same request may succeed later."""
        self.away = away
        """No connection was made; `never there`: nor was one before, and another try of the stage is not worth its time."""

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str, bool, Away]]:  # type: ignore[override]
        return type(self), (self.message, self.hint, self.transient, self.away)

    @property
    def unsettled(self) -> Literal["stopped", "transient"]:
        """What a result that goes on without the model is marked as; `transient`: its stage is tried again."""
        return "transient" if self.transient and self.away != "never there" else "stopped"


class BudgetError(TablewrightError):
    """Calls, tokens, money or time are used up; what is proven so far is published."""

    exit_code = 4


class QueryError(TablewrightError):
    """A query was refused, failed or took too long; goes back to the agent as an observation."""


class SandboxError(TablewrightError):
    """Generated code failed, ran too long, or cannot be isolated on this machine."""


class EvidenceError(TablewrightError):
    """A claim does not reproduce; the answer is withheld and the reason published."""
