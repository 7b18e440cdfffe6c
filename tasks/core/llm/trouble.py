"""An error of litellm, or of the libraries below it → what it means and who must act."""

from __future__ import annotations

import email.utils
import re
import time
from typing import Any, Literal

Kind = Literal["busy", "field", "context", "account", "place", "filter", "request"]
_SHOWN_CHARS = 300
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
_KEYLESS = re.compile(r"missing (credentials|\w+ api key)|api[_ ]key.{0,40}(required|must be set)", re.I)
_FILTER = re.compile(
    r"content[_ ]filter|content[_ ](management )?policy|responsible_?ai_?policy|data_inspection_failed", re.I
)
_SECRET = re.compile(r"\b(sk|gsk|xai|hf)[-_][\w*-]{4,}|Bearer\s+\S+", re.I)


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
    words = said(error, key)
    status = getattr(error, "status_code", None)
    if status in (401, 403) or (status in (402, 429) and _QUOTA.search(words)) or _KEYLESS.search(words):
        return Trouble("account", words)
    if status in (404, 405) or "LLM Provider NOT provided" in words:
        return Trouble("place", words)
    if status in (400, 413, 422):
        if _CONTEXT.search(words):
            return Trouble("context", words)
        if _FILTER.search(words):
            return Trouble("filter", words)
        field = _rejected(words, parameters)
        return Trouble("field" if field else "request", words, field)
    if status is None or status in (408, 409, 425, 429) or status >= 500:
        return Trouble("busy", words, wait=_retry_after(error))
    return Trouble("request", words)


def _rejected(words: str, parameters: dict[str, Any]) -> str:
    """The field of ours that a server's message names, if that field was sent."""
    sent = set(parameters)
    sent |= {"schema"} if "response_format" in sent else set()
    sent |= {"thinking"} if {"extra_body", "reasoning_effort"} & sent else set()
    return next((name for name, pattern in _FIELDS.items() if name in sent and re.search(pattern, words, re.I)), "")


def said(error: Exception, key: str) -> str:
    """The server's own words, short, without anything that looks like a key."""
    body = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        detail = ", ".join(body[name] for name in ("code", "param") if isinstance(body.get(name), str))
        text = f"{body['message']} ({detail})" if detail else body["message"]
    else:
        response = getattr(error, "response", None)
        text = str(body or getattr(response, "text", "") or error)
    text = " ".join(text.partition("Traceback (most recent call last)")[0].split())
    text = re.sub(r"^litellm\.(\w+): (\1: )?(\w+ - )?", "", text)
    text = _SECRET.sub("***", text.replace(key, "***") if key else text)[:_SHOWN_CHARS]
    status = getattr(error, "status_code", None)
    return f"HTTP {status}: {text}" if status else f"{type(error).__name__}: {text}"


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
