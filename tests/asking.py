"""Ways to ask a door in tests: for an object, for text, for calls of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from tasks.core.llm.door import Asked, Door, ToolReply

MakeDoor = Callable[..., Door]
ASKED = [{"role": "user", "content": "多少订单? How many orders?"}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "query",
            "description": "Run SQL.",
            "parameters": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]},
        },
    }
]
GOOD = '{"sql": "SELECT 1"}'


class Query(BaseModel):
    sql: str


def ask(door: Door, samples: int | None = None) -> Asked[Query]:
    return asyncio.run(door.ask("agent", ASKED, Query, samples=samples))


def text(door: Door, samples: int | None = None) -> Asked[str]:
    return asyncio.run(door.ask_text("agent", ASKED, samples=samples))


def use_tools(door: Door, messages: list[dict[str, Any]] = ASKED) -> ToolReply:
    return asyncio.run(door.ask_tools("agent", messages, TOOLS))
