"""An error of litellm, or of the libraries below it → what it means and who must act."""

from __future__ import annotations

import email.utils
import re
import time
from typing import Any, Literal

from tasks.core.llm.reach import lost, unreached
from tasks.core.llm.said import said, shorten, status_of

Kind = Literal["absent", "away", "slow", "busy", "field", "context", "account", "place", "filter", "request"]
"""`absent`: no connection, and that at once; `away`: none in time; `slow`: no reply in time; `busy`: another try may go well.
These four are tried again."""
_FIELDS = {
    "schema": r"response_format|json_schema|structured output|grammar|guided",
    "tools": r"\btools?\b|tool_choice|tool call|function call",
    "thinking": r"chat_template_kwargs|enable_thinking|reasoning_effort|thinking",
    "temperature": r"temperature",
    "top_p": r"top_p",
    "max_tokens": r"max_completion_tokens",
    "encoding_format": r"encoding_format",
    "n": r"""['"`]n['"`]|\bn\b\s*(=|>|must|is|should|greater|param|value|not)|param(eter)? n\b|multiple (choices|completions)""",
}
"""How a server's message names a field that it does not take."""
_CONTEXT = re.compile(r"context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long", re.I)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.I)
_NAMELESS, _NAMELESS_SAID = "LLM Provider NOT provided", "the model's name begins with no provider that is known"
"""What litellm says, for a page, and what it means."""
_UNPAID = re.compile(r"credit balance is too low|insufficient_quota", re.I)
"""Of a 400, whose words may echo the request."""
_KEYLESS = re.compile(r"missing (credentials|\w+ api key)|api[_ ]key.{0,40}(required|must be set)", re.I)
_FILTER = re.compile(
    r"content[_ ]filter|content[_ ](management )?policy|responsible_?ai_?policy|data_inspection_failed", re.I
)


class Trouble(Exception):
    """A request that brought no reply: what kind it is, what the server said, how long it asks to wait (seconds)."""

    def __init__(self, kind: Kind, text: str, field: str = "", wait: float | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.field = field
        self.wait = wait


def meaning(error: Exception, parameters: dict[str, Any], key: str) -> Trouble:
    """What an error of litellm, or of its libraries, means."""
    if isinstance(error, Trouble):
        return error
    why, at_once = unreached(error, str(parameters.get("api_base", "")))
    if why:
        return Trouble("absent" if at_once else "away", why)
    words, status = said(error, key), status_of(error)
    kind, field = _kind(words, status or getattr(error, "status_code", None), parameters)
    shown = _NAMELESS_SAID if _NAMELESS in words else shorten(words)
    how = f"HTTP {status}: " if status else "the connection was lost: " if lost(error) else ""
    return Trouble(kind, f"{how}{shown}", field, wait=_retry_after(error) if kind == "busy" else None)


def _kind(words: str, status: int | None, parameters: dict[str, Any]) -> tuple[Kind, str]:
    """What kind a status with these words is, and the field of ours that it is about."""
    unpaid = (status in (402, 429) and _QUOTA.search(words)) or (status == 400 and _UNPAID.search(words))
    if status in (401, 403) or unpaid or _KEYLESS.search(words):
        return "account", ""
    if status in (404, 405) or _NAMELESS in words:
        return "place", ""
    if status in (400, 413, 422):
        if _CONTEXT.search(words):
            return "context", ""
        if _FILTER.search(words):
            return "filter", ""
        field = _rejected(words, parameters)
        return ("field" if field else "request"), field
    if status is None or status in (408, 409, 425, 429) or status >= 500:
        return "busy", ""
    return "request", ""


def _rejected(words: str, parameters: dict[str, Any]) -> str:
    """The field of ours that a server's message names, if that field was sent."""
    sent = set(parameters)
    sent |= {"schema"} if "response_format" in sent else set()
    sent |= {"thinking"} if {"extra_body", "reasoning_effort"} & sent else set()
    return next((name for name, pattern in _FIELDS.items() if name in sent and re.search(pattern, words, re.I)), "")


def _retry_after(error: Exception) -> float | None:
    """Seconds of a Retry-After header, which is a number or an HTTP date."""
    response = getattr(error, "response", None)
    value = (getattr(response, "headers", None) or {}).get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
