"""An error of litellm, or of the libraries below it → what the server itself said, and whether it said anything."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

from tasks.core.masking import SHORT, masked

_WHOLE_CHARS = 600
"""A provider's message up to this length is shown whole."""
_HEAD_CHARS, _TAIL_CHARS = 380, 180
"""Of a longer one, which often echoes the request in its middle."""
_SECRET = re.compile(r"\b(sk|gsk|xai|hf)[-_][\w*-]{4,}|Bearer\s+\S+", re.I)
_LIBRARY = re.compile(r"^(litellm\.\w+: )?((\w+: )?\w+(Exception|Error)( \w+Error)? - )?")
"""What litellm writes before the server's words."""
_ADVICE = re.compile(r"\.? Handle with `litellm\.\w+`\.")
_NAMES = ("error", "message", "detail", "msg", "error_description")
"""Keys of an error's text, of OpenAI and Anthropic (`error.message`), vLLM (`message`), FastAPI (`detail`), Ollama (`error`)."""


def said(error: BaseException, key: str) -> str:
    """The server's own words on one line, whole, without anything that looks like a key."""
    body = getattr(error, "body", None) or getattr(getattr(error, "response", None), "text", "") or str(error)
    text = _sentence(body).partition("Traceback (most recent call last)")[0]
    text = " ".join(text.split())
    return _SECRET.sub("***", masked(text, _forms(key)))


def _forms(key: str) -> tuple[str, ...]:
    """A key as a server may give it back: as it is, in a URL, in JSON, and somewhere in base64, as `Basic` authorisation has it.

    Of a short one as it is alone: few letters of base64 occur in any text.
    """
    if len(key) < SHORT:
        return (key,)
    return (
        key,
        quote(key, safe=""),
        quote_plus(key),
        json.dumps(key)[1:-1],
        *filter(None, map(_in_base64(key), range(3))),
    )


def _in_base64(key: str) -> Callable[[int], str]:
    """Of a number of bytes before the key: what then stands for the key alone, whatever those bytes are."""

    def stands(before: int) -> str:
        whole = base64.b64encode(bytes(before) + key.encode()).decode()
        sure = len(whole.rstrip("=")) - bool(whole.endswith("="))
        return whole[before + bool(before) : sure]

    return stands


def shorten(text: str) -> str:
    """The text as a message shows it: whole, or its beginning and its end, cut between words."""
    if len(text) <= _WHOLE_CHARS:
        return text
    head, tail = text[:_HEAD_CHARS], text[-_TAIL_CHARS:]
    return f"{head.rpartition(' ')[0] or head} … {tail.partition(' ')[2] or tail}"


def causes(error: BaseException) -> tuple[BaseException, ...]:
    """The error and those that it came from, the outermost first."""
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in found:
        found.append(each)
        each = each.__cause__ or each.__context__
    return tuple(found)


def status_of(error: BaseException) -> int | None:
    """The HTTP status that a server gave; None where none answered: litellm makes one up then."""
    import httpx

    for each in causes(error):
        if isinstance(each, httpx.HTTPStatusError):
            return each.response.status_code
    given = getattr(getattr(error, "response", None), "content", b"")
    return getattr(error, "status_code", None) if given else None


def _sentence(body: Any) -> str:
    """The text of an error's body, whatever its form."""
    if isinstance(body, dict):
        return _of_object(body)
    if isinstance(body, list | tuple):
        return "; ".join(filter(None, map(_sentence, body)))
    text = str(body).strip()
    if text.startswith("<"):
        return _of_page(text)
    text = _ADVICE.sub("", _LIBRARY.sub("", text, count=1))
    inner = _json_in(text)
    return _sentence(inner) if inner else _of_page(text) if text.startswith("<") else text


def _of_object(body: dict[Any, Any]) -> str:
    name = next((name for name in _NAMES if body.get(name)), "")
    if not name:
        return json.dumps(body, ensure_ascii=False)
    text = _sentence(body[name])
    if isinstance(place := body.get("loc"), list):  # FastAPI: which field it is about
        text = f"{'.'.join(map(str, place))}: {text}"
    if isinstance(more := body.get("metadata"), dict) and more.get("raw"):  # a router's: what the model's provider said
        text = f"{text}: {_sentence(more['raw'])}"
    detail = ", ".join(body[part] for part in ("code", "param") if isinstance(body.get(part), str))
    return f"{text} ({detail})" if detail else text


def _of_page(text: str) -> str:
    """The title of a proxy's HTML page, else its words."""
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.I | re.S)
    plain = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", title[1] if title else text, flags=re.I | re.S)
    return plain.strip() or text


def _json_in(text: str) -> Any:
    """The first JSON object that a text holds, when it is an error's; else None."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None
    return found if isinstance(found, dict) and any(found.get(name) for name in _NAMES) else None
