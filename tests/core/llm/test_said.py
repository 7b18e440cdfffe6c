"""What a user reads of a provider's refusal, over real HTTP: every case of tests/cases/llm/refusals.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from asking import MakeDoor, text
from endpoint import Endpoint, Status

from tasks.core.errors import TablewrightError

CASES = tomllib.loads((Path(__file__).parents[2] / "cases" / "llm" / "refusals.toml").read_text("utf-8"))["case"]
KEY = "sk-mine-1234567"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_providers_own_sentence_is_kept(
    make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    body = case["body"].replace("FILL", "word " * 240)
    with Endpoint(lambda _: Status(case["status"], body)) as server:
        door = make_door(server.url, role={"attempts": 1}, endpoint={"provider": case.get("provider", "")})
        monkeypatch.setenv("MODEL_API_KEY", KEY)
        with pytest.raises(TablewrightError) as error:
            text(door)
    assert type(error.value).__name__ == case["error"]
    message = error.value.message
    assert [part for part in case["says"] if part not in message] == [], message
    assert [part for part in (*case["without"], KEY) if part in message] == [], message
    assert case["hint"] in error.value.hint and len(message) < 800


KEYLESS = {
    "OpenAI": ("", 401, '{"error": {"message": "You didn\'t provide an API key.", "code": null}}'),
    "Anthropic": ("anthropic", 401, '{"type": "error", "error": {"message": "You didn\'t provide an API key."}}'),
    "vLLM": ("", 401, '{"error": "You didn\'t provide an API key."}'),
    "a gateway": ("", 403, "You didn't provide an API key."),
}


@pytest.mark.parametrize(("provider", "status", "body"), KEYLESS.values(), ids=KEYLESS.keys())
def test_an_empty_key_is_named_with_the_variable_to_set(
    make_door: MakeDoor, provider: str, status: int, body: str
) -> None:
    with Endpoint([Status(status, body)]) as server, pytest.raises(TablewrightError) as error:
        text(make_door(server.url, endpoint={"provider": provider}))
    assert f"HTTP {status}: You didn't provide an API key" in error.value.message
    assert "got no key, as MODEL_API_KEY is empty" in error.value.message
    assert error.value.hint == "export MODEL_API_KEY=your-key" and server.calls == 1


def test_an_endpoint_without_a_variable_for_its_key_is_told_so(make_door: MakeDoor) -> None:
    with Endpoint([Status(401, "who are you?")]) as server, pytest.raises(TablewrightError) as error:
        text(make_door(server.url, endpoint={"api_key_env": ""}))
    assert "endpoints.end0.api_key_env names no variable" in error.value.message
    assert "HTTP 401: who are you?" in error.value.message and "export" in error.value.hint


def test_a_key_of_one_letter_leaves_the_sentence_readable(make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    with Endpoint(
        [Status(401, {"error": {"message": "Incorrect key provided: k. Check the token, 密钥k无效"}})]
    ) as server:
        door = make_door(server.url)
        monkeypatch.setenv("MODEL_API_KEY", "k")
        with pytest.raises(TablewrightError) as error:
            text(door)
    assert "Incorrect key provided: ***. Check the token, 密钥***无效" in error.value.message
