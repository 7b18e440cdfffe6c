"""Tools in a request → the same request for a server without tool calls; a reply's text → the calls written in it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tasks.core.llm import prompts, structured
from tasks.core.llm.request import Request

_RULES = """\
You can use these tools, one JSON schema of arguments each:
{tools}
To use a tool, reply with exactly one JSON object and nothing else: {{"tool": "<name>", "arguments": {{...}}}}"""
_NAMES = ("tool", "name", "function")
_ARGUMENTS = ("arguments", "parameters", "input")


def plain(request: Request) -> Request:
    """The request with its tools, calls and tool results as text."""
    lines = [json.dumps(tool["function"], ensure_ascii=False, sort_keys=True) for tool in request.tools]
    rules = _RULES.format(tools="\n".join(lines))
    messages: list[dict[str, Any]] = [{"role": "system", "content": rules}]
    for message in request.messages:
        turn = _turn(message)
        last = messages[-1]
        if last["role"] == turn["role"]:
            last["content"] = f"{last['content']}\n\n{turn['content']}"
        else:
            messages.append(turn)
    return replace(request, messages=tuple(messages), tools=())


def written_calls(text: str, tools: tuple[dict[str, Any], ...]) -> tuple[tuple[str, str, str], ...]:
    """Calls of these tools that stand in a text as JSON objects: id, name, arguments as JSON."""
    known = {tool["function"]["name"] for tool in tools}
    found: list[tuple[str, str, str]] = []
    for value in structured.decoded(text):
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, dict):
                continue
            name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), "")
            arguments = next((item[key] for key in _ARGUMENTS if isinstance(item.get(key), dict)), None)
            if name in known and arguments is not None:
                found.append((f"call_{len(found)}", name, json.dumps(arguments, ensure_ascii=False)))
    return tuple(found)


def _turn(message: dict[str, Any]) -> dict[str, Any]:
    content = str(message.get("content") or "")
    if message["role"] == "tool":
        return {"role": "user", "content": f"Result of the tool:\n{prompts.fence(content)}"}
    calls = [
        json.dumps({"tool": call["function"]["name"], "arguments": _arguments(call)}, ensure_ascii=False)
        for call in message.get("tool_calls") or ()
    ]
    return {"role": message["role"], "content": "\n".join([*([content] if content else []), *calls])}


def _arguments(call: dict[str, Any]) -> Any:
    try:
        return structured.loads(call["function"]["arguments"])
    except ValueError:
        return call["function"]["arguments"]
