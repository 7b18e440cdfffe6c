"""Request → replies, vectors or a transcript of one endpoint, asked once: the only module that knows litellm.

litellm takes seconds to import and keeps its connections and queues by event loop, so all of it lives on one loop in
one thread of its own, whatever loop asks.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import re
import threading
import time
import warnings
from array import array
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks.core import settings
from tasks.core.asking import EndpointSettings
from tasks.core.llm import endpoints, tokens, tools, trouble
from tasks.core.llm.reach import refused
from tasks.core.llm.request import Heard, Reply, Request, Response, Sound, Texts, Vectors
from tasks.core.llm.structured import drop_thinking
from tasks.core.llm.trouble import Trouble

_CONNECT_SECONDS = 15
_WARM_SECONDS = 30.0
"""Most that the end of a process waits for what it has begun to load."""
_THINKERS = re.compile(r"qwen-?3|qwq|glm-?(4\.[5-9]|[5-9])|deepseek-?v(3\.[1-9]|[4-9])|hunyuan|nemotron|smollm3", re.I)
"""Open models whose chat template thinks unless it is told not to."""
_NON_THINKERS = re.compile(r"instruct|coder", re.I)
_TOKENIZED = re.compile(r"(?:^|/)(?:gpt-[345]|chatgpt-|o[134](?:$|-)|deepseek-(?:chat|reasoner)$)", re.I)
"""Models whose own tokenizer is in litellm's package: for others it would fetch one, or take another model's."""


async def send(
    endpoint: EndpointSettings, request: Request, seconds: float, without: frozenset[str] = frozenset()
) -> Response:
    """Send one request once, leaving out the fields named in `without`. Raises Trouble.

    The response has fewer replies than samples when the server does not know `n`.
    """
    if request.tools and "tools" in without:
        request = tools.plain(request)
    if "n" in without:
        request = request.of(1)
    parameters = _parameters(endpoint, request, without)
    key = settings.secret(endpoint.api_key_env).get_secret_value()
    return await asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(_call(parameters, key, request, seconds), _background())
    )


async def embed(
    endpoint: EndpointSettings, request: Texts, seconds: float, without: frozenset[str] = frozenset()
) -> Vectors:
    """Vectors of all texts, asked for once. Raises Trouble."""
    provider = "openai" if endpoint.url and not endpoint.provider else endpoint.provider
    parameters: dict[str, Any] = {
        "model": f"{provider}/{request.model}" if provider else request.model,
        "input": list(request.texts),
    }
    if endpoint.url:
        parameters["api_base"] = endpoints.base_url(endpoint)
    if provider == "openai" and "encoding_format" not in without:
        parameters["encoding_format"] = "float"  # the client's own default is base64, which few servers know
    key = settings.secret(endpoint.api_key_env).get_secret_value()
    return await asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(_call_embedding(parameters, key, request, seconds), _background())
    )


async def transcribe(
    endpoint: EndpointSettings, request: Sound, seconds: float, without: frozenset[str] = frozenset()
) -> Heard:
    """What is said in a file, asked for once. Raises Trouble."""
    provider = "openai" if endpoint.url and not endpoint.provider else endpoint.provider
    parameters: dict[str, Any] = {"model": f"{provider}/{request.model}" if provider else request.model}
    if endpoint.url:
        parameters["api_base"] = endpoints.base_url(endpoint)
    if "schema" not in without:  # the plain form has no times
        parameters["response_format"] = "verbose_json"
    key = settings.secret(endpoint.api_key_env).get_secret_value()
    return await asyncio.wrap_future(
        asyncio.run_coroutine_threadsafe(_call_speech(parameters, key, request, seconds), _background())
    )


def measure(text: str, model: str) -> int | None:
    """Tokens of a text by the model's own tokenizer; None for a model whose tokenizer is not at hand without a download."""
    return int(_litellm().token_counter(model=model, text=text)) if _TOKENIZED.search(model) else None


async def _call(parameters: dict[str, Any], key: str, request: Request, seconds: float) -> Response:
    litellm = await _door(parameters)
    started = time.monotonic()
    try:
        raw = await _within(seconds, litellm.acompletion(**_reach(parameters, key, seconds)))
        replies = _replies(raw, request)
    except Exception as error:  # noqa: BLE001  # the model door: every library below has its own errors
        meant = trouble.meaning(error, parameters, key)
        if meant.kind != "filter":
            raise meant from None
        filtered = Reply("", finish="content_filter", refusal=str(meant))
        return Response((filtered,) * request.samples, 0.0, time.monotonic() - started)
    return Response(replies, _price(raw), time.monotonic() - started)


async def _call_embedding(parameters: dict[str, Any], key: str, request: Texts, seconds: float) -> Vectors:
    litellm = await _door(parameters)
    started = time.monotonic()
    try:
        raw = await _within(seconds, litellm.aembedding(**_reach(parameters, key, seconds)))
        rows = _rows(raw, len(request.texts))
    except Exception as error:  # noqa: BLE001  # the model door, as above
        raise trouble.meaning(error, parameters, key) from None
    used = getattr(getattr(raw, "usage", None), "prompt_tokens", 0)
    return Vectors(
        rows=rows,
        tokens_in=used or sum(tokens.count(text) for text in request.texts),
        money=_price(raw),
        seconds=time.monotonic() - started,
    )


async def _call_speech(parameters: dict[str, Any], key: str, request: Sound, seconds: float) -> Heard:
    litellm = await _door(parameters)
    started = time.monotonic()
    try:
        with Path(request.path).open("rb") as file:
            raw = await _within(seconds, litellm.atranscription(file=file, **_reach(parameters, key, seconds)))
        parts = [part if isinstance(part, dict) else part.model_dump() for part in getattr(raw, "segments", None) or ()]
        said = tuple((float(part["start"]), str(part["text"])) for part in parts)
    except Exception as error:  # noqa: BLE001  # the model door, as above
        raise trouble.meaning(error, parameters, key) from None
    return Heard(said or ((None, str(raw.text or "")),), _price(raw), time.monotonic() - started)


def _reach(parameters: dict[str, Any], key: str, seconds: float) -> dict[str, Any]:
    """The parameters with what brings the request to its place in time."""
    import httpx

    if key or parameters.get("api_base"):
        parameters["api_key"] = key or "none"
    return {**parameters, "timeout": httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)), "max_retries": 0}


async def _within(seconds: float, reply: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await reply
    except TimeoutError:
        raise Trouble("slow", f"no full reply within {seconds:.3g} s") from None


def price(endpoint: EndpointSettings, model: str, tokens_in: int, tokens_out: int) -> float | None:
    """US dollars of so many tokens, by litellm's price map; None for a model that it does not know. Nothing is asked."""
    litellm = _litellm()
    for name in (f"{endpoint.provider}/{model}" if endpoint.provider else model, model.rsplit("/", 1)[-1]):
        try:
            paid = litellm.cost_per_token(model=name, prompt_tokens=tokens_in, completion_tokens=tokens_out)
        except Exception:  # noqa: BLE001  # the model door: it says "unknown model" by several errors
            continue
        return float(sum(paid))
    return None


def _price(raw: Any) -> float:
    return float(getattr(raw, "_hidden_params", {}).get("response_cost") or 0.0)


def _rows(raw: Any, count: int) -> tuple[array[float], ...]:
    """The vectors in the order of the texts; servers may send them in another."""
    items = [item if isinstance(item, dict) else item.model_dump() for item in raw.data]
    items.sort(key=lambda item: int(item.get("index") or 0))
    rows = tuple(array("f", item["embedding"]) for item in items)
    if len(rows) != count or not all(rows) or len({len(row) for row in rows}) != 1:
        raise Trouble("request", f"{count} texts brought {len(rows)} vectors, or some of another size")
    return rows


def _parameters(endpoint: EndpointSettings, request: Request, without: frozenset[str]) -> dict[str, Any]:
    compatible = bool(endpoint.url) and not endpoint.provider
    provider = "openai" if compatible else endpoint.provider
    found: dict[str, Any] = {
        "model": f"{provider}/{endpoint.model}" if provider else endpoint.model,
        "messages": list(request.messages),
        "max_completion_tokens" if "max_tokens" in without else "max_tokens": request.max_tokens,
    }
    if endpoint.url:
        found["api_base"] = endpoints.base_url(endpoint)
    if request.samples > 1:
        found["n"] = request.samples
    if "temperature" not in without and (compatible or not request.thinking):  # providers fix it while thinking
        found["temperature"] = request.temperature
    if request.top_p < 1 and "top_p" not in without:
        found["top_p"] = request.top_p
    if request.schema and "schema" not in without:
        found["response_format"] = {"type": "json_schema", "json_schema": request.schema}
    if request.tools:
        found["tools"] = list(request.tools)
    if "thinking" not in without:
        found |= _thinking(endpoint.model, request.thinking, compatible)
    return found


def _thinking(model: str, wanted: bool, compatible: bool) -> dict[str, Any]:
    """Nothing is sent where the wish is what the model does anyway: strict servers reject fields they do not know."""
    if not compatible:
        return {"reasoning_effort": "medium"} if wanted else {}
    by_default = bool(_THINKERS.search(model)) and not _NON_THINKERS.search(model)
    if not wanted and not by_default:
        return {}
    switches = {"enable_thinking": wanted, "chat_template_kwargs": {"enable_thinking": wanted, "thinking": wanted}}
    return {"extra_body": switches}


def _replies(raw: Any, request: Request) -> tuple[Reply, ...]:
    """Usage comes for all samples together; each gets its share, the first one the prompt.

    Some servers count the first sample alone: a count that our estimate of all cannot explain gives way to it.
    """
    found = [_reply(choice, str(raw.model or "")) for choice in raw.choices]
    if not found:
        raise Trouble("busy", "the reply has no choices")
    usage = getattr(raw, "usage", None)
    tokens_in = getattr(usage, "prompt_tokens", 0) or tokens.count_messages(list(request.messages))
    tokens_out, estimate = getattr(usage, "completion_tokens", 0), sum(tokens.count(reply.text) for reply in found)
    if not tokens_out or (len(found) > 1 and tokens_out * 2 < estimate):
        tokens_out = estimate
    cached = min(tokens_in, _cached(usage))
    share, rest = divmod(tokens_out, len(found))
    return tuple(
        replace(
            reply,
            tokens_in=0 if index else tokens_in,
            tokens_cached=0 if index else cached,
            tokens_out=share + (0 if index else rest),
        )
        for index, reply in enumerate(found)
    )


def _cached(usage: Any) -> int:
    """Prompt tokens that a provider had in its cache; litellm brings their names for it to OpenAI's."""
    return int(getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0) or 0)


def _reply(choice: Any, model: str) -> Reply:
    message = choice.message
    calls = tuple(
        (str(call.id or f"call_{index}"), str(call.function.name or ""), str(call.function.arguments or "{}"))
        for index, call in enumerate(message.tool_calls or ())
    )
    return Reply(
        text=drop_thinking(str(message.content or "")),
        finish=str(choice.finish_reason or "stop"),
        calls=calls,
        refusal=str(getattr(message, "refusal", None) or ""),
        model=model,
    )


_loaded, _warming = threading.Event(), threading.Event()
_loop: asyncio.AbstractEventLoop | None = None
_lock = threading.Lock()


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="models", daemon=True).start()
        return _loop


async def _door(parameters: dict[str, Any]) -> Any:
    """litellm. Raises Trouble for a place that takes no connection, before the seconds that the import takes."""
    if not _loaded.is_set():
        if why := await refused(str(parameters.get("api_base", ""))):
            raise Trouble("absent", why)
        await ready()
    return _litellm()


async def ready() -> None:
    """Wait until what requests need is loaded."""
    if not _loaded.is_set():
        await asyncio.to_thread(_load)


def warm(place: str) -> None:
    """Begin to load what requests need, beside whatever goes on, unless the place takes no connection. Once in a process."""
    if not _loaded.is_set() and not _warming.is_set():
        _warming.set()
        thread = threading.Thread(target=_load_for, args=(place,), name="loading", daemon=True)
        atexit.register(thread.join, _WARM_SECONDS)  # nothing must be importing when the interpreter ends
        thread.start()


def _load_for(place: str) -> None:
    if not asyncio.run(refused(place)):
        _load()


def _load() -> None:
    _litellm()
    _loaded.set()


def _litellm() -> Any:
    """litellm, quiet: no price maps from the network, no .env file, no telemetry, no log lines."""
    settings.set_default("LITELLM_OFFLINE_MODE", "true")
    settings.set_default("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    settings.set_default("LITELLM_MODE", "PRODUCTION")
    import litellm

    warnings.filterwarnings("ignore", r"coroutine 'OpenAIChatCompletion\..* was never awaited", RuntimeWarning)
    litellm.telemetry = False
    litellm.DEFAULT_MAX_RETRIES = 0  # type: ignore[attr-defined]  # of embeddings, where our 0 counts as "not given"
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
