"""Request → replies of one endpoint: the only place that knows litellm, which takes seconds to import."""

from __future__ import annotations

import time
from typing import Any

from tasks.core import settings
from tasks.core.llm.request import Reply, Request, Response
from tasks.core.settings import EndpointSettings


async def send(endpoint: EndpointSettings, request: Request, seconds: float) -> Response:
    """One request, sent once."""
    litellm = _litellm()
    started = time.monotonic()
    raw = await litellm.acompletion(
        model=f"openai/{endpoint.model}",
        api_base=endpoint.url,
        api_key=settings.secret(endpoint.api_key_env).get_secret_value() or "none",
        messages=list(request.messages),
        n=request.samples,
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        tools=list(request.tools) or None,
        timeout=seconds,
        max_retries=0,
    )
    replies = tuple(
        Reply(
            choice.message.content or "",
            choice.finish_reason,
            tuple((c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()),
        )
        for choice in raw.choices
    )
    return Response(replies, 0.0, time.monotonic() - started)


def _litellm() -> Any:
    settings.set_default("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    settings.set_default("LITELLM_MODE", "PRODUCTION")
    import litellm

    return litellm
