"""One turn of the model in either style, as text and calls: native tool calls, or one JSON action a reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, Field, JsonValue, create_model

from tasks.core.llm import door
from tasks.core.llm.request import ToolCall
from tasks.core.llm.tokens import count
from tasks.core.models.run import Usage
from tasks.solve.solving.observe import Observation
from tasks.solve.solving.tools import Tool, native
from tasks.solve.solving.transcript import Transcript

ROLE = "agent"
_NO_CALL = "You called no tool. Use a tool, or hand in your query with submit."


@dataclass(frozen=True)
class Turn:
    """What the model said and wants done."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    problems: tuple[str, ...] = ()


class Style(Protocol):
    """Asks for a turn, and puts results into the transcript in the form that its style needs."""

    async def ask(self, transcript: Transcript, tools: tuple[Tool, ...]) -> Turn:
        """The model's next turn, with these tools on offer. Raises ModelError and BudgetError."""

    def answer(self, transcript: Transcript, turn: Turn, results: Sequence[Observation], note: str) -> None:
        """Add the turn, the result of each of its calls, and a note of ours."""


class Action(BaseModel):
    """One step."""

    thought: str = Field(default="", description="one or two sentences: what is known, what is next")
    tool: str = Field(description="name of the tool")
    arguments: dict[str, Any] = Field(default={}, description="arguments of the tool")


def _action(tools: tuple[Tool, ...]) -> type[Action]:
    """With the tools' names in its schema, for servers that enforce one; another name is told, not refused."""
    names: dict[str, JsonValue] = {"enum": [tool.name for tool in tools]}
    return create_model("Action", __base__=Action, tool=(str, Field(json_schema_extra=names)))


class JsonStyle:
    """One JSON object a turn; works with every model that can write JSON."""

    async def ask(self, transcript: Transcript, tools: tuple[Tool, ...]) -> Turn:
        asked = await door.ask(ROLE, transcript.prompt(), _action(tools), samples=1)
        action = asked.value
        call = ToolCall("", action.tool.strip(), action.arguments)
        return Turn(action.thought, (call,), asked.usage, asked.problems)

    def answer(self, transcript: Transcript, turn: Turn, results: Sequence[Observation], note: str) -> None:
        for call, result in zip(turn.calls, results, strict=True):
            action = {"thought": turn.text, "tool": call.name, "arguments": call.arguments}
            transcript.say({"role": "assistant", "content": json.dumps(action, ensure_ascii=False)})
            text = "\n".join(part for part in (result.fenced, note) if part)
            transcript.tell({"role": "user", "content": text})


class ToolsStyle:
    """Native tool calls, several a turn if the model likes."""

    async def ask(self, transcript: Transcript, tools: tuple[Tool, ...]) -> Turn:
        offered = native(tools)
        reply = await door.ask_tools(ROLE, transcript.prompt(count(json.dumps(offered))), offered)
        return Turn(reply.text, reply.calls, reply.usage, reply.problems)

    def answer(self, transcript: Transcript, turn: Turn, results: Sequence[Observation], note: str) -> None:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in turn.calls
        ]
        transcript.say({"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {}))
        if not calls:
            transcript.say({"role": "user", "content": "\n".join(part for part in (_NO_CALL, note) if part)})
        for number, (call, result) in enumerate(zip(turn.calls, results, strict=True), 1):
            last = number == len(calls)
            text = "\n".join(part for part in (result.fenced, note if last else "") if part)
            transcript.tell({"role": "tool", "tool_call_id": call.id, "content": text})


STYLES: dict[str, type[JsonStyle] | type[ToolsStyle]] = {"json": JsonStyle, "tools": ToolsStyle}
