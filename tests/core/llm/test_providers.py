"""The profiles of configs/examples: each is valid, and a request of it goes through the door in the protocol of its provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import ASKED, GOOD, Query
from endpoint import Body, Endpoint

from tasks.core.files.store import Folder, Store
from tasks.core.llm.budget import Meter
from tasks.core.llm.door import Door
from tasks.core.settings import Settings, load

EXAMPLES = Path(__file__).resolve().parents[3] / "configs" / "examples"


def openai(_body: dict[str, Any]) -> Any:
    return GOOD


def anthropic(_body: dict[str, Any]) -> Body:
    """A reply of the Messages API."""
    return Body(
        json.dumps(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [{"type": "text", "text": GOOD}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 21, "output_tokens": 9},
            }
        ).encode()
    )


def ollama(_body: dict[str, Any]) -> Body:
    """A reply of /api/chat."""
    return Body(
        json.dumps(
            {
                "model": "qwen2.5:14b",
                "created_at": "2026-01-01T00:00:00Z",
                "message": {"role": "assistant", "content": GOOD},
                "done": True,
                "done_reason": "stop",
                "prompt_eval_count": 21,
                "eval_count": 9,
            }
        ).encode()
    )


CASES: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "compatible": (openai, "/v1/chat/completions", "authorization"),
    "vllm": (openai, "/v1/chat/completions", "authorization"),
    "openai": (openai, "/v1/chat/completions", "authorization"),
    "anthropic": (anthropic, "/v1/messages", "x-api-key"),
    "ollama": (ollama, "/api/chat", ""),
}
"""By example: what its server replies, the path that is asked, and the header that carries the key."""


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.toml")))
def test_every_example_is_a_valid_profile_that_names_models_and_holds_no_key(name: str) -> None:
    settings = load(str(EXAMPLES / f"{name}.toml"))
    assert all(one.model for one in settings.endpoints.values())
    assert name in CASES or name == "two"
    for role in ("plan", "extract", "agent", "process", "verify"):
        assert set(settings.role(role).endpoints) <= set(settings.endpoints)


@pytest.mark.parametrize("name", CASES)
def test_a_request_goes_in_the_protocol_of_its_provider(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reply, path, header = CASES[name]
    with Endpoint(reply) as server:
        settings = at(name, server.url if name == "openai" else server.url.removesuffix("/v1"))
        if variable := settings.endpoints["main"].api_key_env:
            monkeypatch.setenv(variable, "key-of-the-test")
        asked = asyncio.run(door(settings, tmp_path).ask("agent", ASKED, Query))
    assert asked.value == Query(sql="SELECT 1") and not asked.problems
    assert server.paths[0] == path and asked.usage.tokens_in and asked.usage.tokens_out
    body, sent = server.requests[0], server.headers[0]
    assert body["model"] == settings.endpoints["main"].model
    assert ASKED[-1]["content"] in json.dumps(body, ensure_ascii=False)
    if header:
        assert "key-of-the-test" in sent[header]
    else:
        assert "key-of-the-test" not in json.dumps(sent)


def at(name: str, url: str) -> Settings:
    """The example, its endpoint on this machine."""
    return load(str(EXAMPLES / f"{name}.toml"), {"endpoints": {"main": {"url": url}}})


def door(settings: Settings, folder: Path) -> Door:
    """A door over a store of the test."""
    return Door(settings, Store(Folder(folder / "store"), folder / "cache"), Meter(settings.budget))
