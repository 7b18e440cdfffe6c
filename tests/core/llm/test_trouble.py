"""What a door does when an endpoint is away, busy or refuses, over real HTTP with counted requests."""

from __future__ import annotations

import asyncio
import email.utils
import re
import time
from typing import Any

import pytest
from asking import MakeDoor, text
from endpoint import Body, Delay, Drip, Drop, Endpoint, Status

from tasks.core.errors import InputError, ModelError

# ---- endpoints that are away or busy --------------------------------------------------------------------------------

BUSY = {
    "429": Status(429, {"error": {"message": "slow down"}}),
    "500": Status(500, "oops"),
    "502 page": Status(502, "<html>bad gateway</html>"),
    "503": Status(503, {"error": {"message": "loading model"}}),
    "529": Status(529, "overloaded"),
    "408": Status(408, "time-out"),
    "no status line": Drop(0),
    "dropped in the body": Drop(25),
    "no JSON": Body(b'{"choices": [{'),
    "no completion": Body(b'{"object": "something else"}'),
    "no choices": Body(b'{"choices": [], "object": "chat.completion"}'),
}


@pytest.mark.parametrize("trouble", BUSY.values(), ids=BUSY.keys())
def test_transport_trouble_is_tried_again(make_door: MakeDoor, trouble: Any) -> None:
    with Endpoint([trouble, trouble, "ok"]) as server:
        door = make_door(server.url)
        assert text(door).value == "ok"
    assert server.calls == 3 and door.meter.spend().total().calls == 1


def test_trouble_that_stays_is_a_transient_error_after_the_tries(make_door: MakeDoor) -> None:
    with Endpoint(lambda _: Status(503, "busy")) as server:
        door = make_door(server.url, role={"attempts": 3})
        with pytest.raises(ModelError, match=r"'end0'.*no reply in 3 tries.*503.*busy") as error:
            text(door)
    assert server.calls == 3 and error.value.transient and door.meter.spend().total().calls == 0


def test_a_slow_server_is_given_up_at_the_time_out(make_door: MakeDoor) -> None:
    with Endpoint([Delay(1.5, "late"), "ok"]) as server:
        started = time.monotonic()
        assert text(make_door(server.url, role={"timeout_seconds": 0.4})).value == "ok"
        assert time.monotonic() - started < 1.4
    assert server.calls == 2


def test_a_dripping_server_is_given_up_at_the_time_out(make_door: MakeDoor) -> None:
    with Endpoint([Drip(1.5, "late")]) as server, pytest.raises(ModelError, match=r"no full reply within 0.4 s"):
        text(make_door(server.url, role={"timeout_seconds": 0.4, "attempts": 1}))


@pytest.mark.parametrize(("code", "form"), [(429, "seconds"), (503, "date")])
def test_retry_after_is_honoured(make_door: MakeDoor, code: int, form: str) -> None:
    arrived: list[float] = []

    def reply(_: dict[str, Any]) -> Any:
        arrived.append(time.monotonic())
        value = "1" if form == "seconds" else email.utils.formatdate(time.time() + 2, usegmt=True)
        return "ok" if arrived[1:] else Status(code, "wait", {"Retry-After": value})

    with Endpoint(reply) as server:
        assert text(make_door(server.url)).value == "ok"
    assert len(arrived) == 2 and 0.9 <= arrived[1] - arrived[0] < 4


@pytest.mark.parametrize("limits", [{"retry": {"asked_seconds": 60}}, {"budget": {"seconds": 60}}])
def test_a_longer_retry_after_than_the_run_may_wait_fails_at_once(make_door: MakeDoor, limits: dict[str, Any]) -> None:
    with Endpoint([Status(429, "wait", {"Retry-After": "100"})]) as server:
        door = make_door(server.url, **{"retry": {"asked_seconds": 1000}, **limits})
        with pytest.raises(ModelError, match="asks to wait 100 s, and at most 60 s") as error:
            text(door)
    assert not error.value.transient and server.calls == 1


def test_requests_in_line_are_not_sent_to_an_endpoint_that_asks_for_too_long_a_wait(make_door: MakeDoor) -> None:
    with Endpoint(lambda _: Status(429, "wait", {"Retry-After": "3600"})) as server:
        door = make_door(server.url, role={"attempts": 1}, endpoint={"concurrency": 2})

        async def many() -> list[Any]:
            asked = (door.ask_text("agent", [{"role": "user", "content": str(number)}]) for number in range(9))
            return await asyncio.gather(*asked, return_exceptions=True)

        errors = asyncio.run(many())
    assert server.calls <= 2
    for error in errors:
        assert isinstance(error, ModelError) and not error.transient
        assert re.search(r"asks to wait (3600|3599) s, and at most 5 s are given \(retry.asked_seconds\)", str(error))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://model.test/v1", "no http or https URL: ftp://model.test/v1"),
        ("http://", "no http or https URL"),
        ("notaurl", "no http or https URL: notaurl"),
        ("http://[", "it cannot be read"),
        ("http://user:secret@127.0.0.1:9/v1", "holds a user or password"),
        ("http://user:secret?of@127.0.0.1:9/v1", "it cannot be read"),
        ("http://user:secret/of@127.0.0.1:9/v1", "it cannot be read"),
        ("http://user:secret#of@127.0.0.1:9/v1", "it cannot be read"),
        ("http://user:1?secret@127.0.0.1:9/v1", "holds a user or password"),
        ("http://user:1/secret@127.0.0.1:9/v1", "holds a user or password"),
        ("http://user:1#secret@127.0.0.1:9/v1", "holds a user or password"),
        ("http://secret?of@127.0.0.1:9/v1", "holds a user or password"),
        ("ftp://user:1?secret@127.0.0.1:9/v1", "no http or https URL: it"),
    ],
)
def test_a_url_that_no_request_can_go_to_is_the_users_to_mend(make_door: MakeDoor, url: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as error:
        text(make_door(url))
    assert "secret" not in str(error.value) and "endpoints.end0.url" in error.value.hint


# ---- what the user must mend ----------------------------------------------------------------------------------------

MENDED = {
    "key": (Status(401, {"error": {"message": "Incorrect API key provided: sk-mine-1234567"}}), InputError, "MODEL_API_KEY"),
    "rights": (Status(403, "forbidden"), InputError, "MODEL_API_KEY"),
    "quota": (Status(429, {"error": {"message": "x", "code": "insufficient_quota"}}), InputError, "MODEL_API_KEY"),
    "model": (Status(404, {"error": {"message": "model 'scripted' not found"}}), InputError, "endpoints.end0.model"),
    "too long": (Status(400, {"error": {"message": "This model's maximum context length is 4096 tokens."}}), ModelError, "context_tokens"),
    "llama.cpp too long": (Status(400, {"error": {"message": "the request exceeds the available context size"}}), ModelError, "context_tokens"),
    "other": (Status(400, {"error": {"message": "messages must alternate"}}), ModelError, "models.md"),
}  # fmt: skip


@pytest.mark.parametrize(("status", "kind", "hint"), MENDED.values(), ids=MENDED.keys())
def test_what_another_try_cannot_mend_is_said_at_once(
    make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch, status: Status, kind: type[Exception], hint: str
) -> None:
    with Endpoint([status, "ok"]) as server:
        door = make_door(server.url)
        monkeypatch.setenv("MODEL_API_KEY", "sk-mine-1234567")
        with pytest.raises(kind) as error:
            text(door)
    message = str(error.value)
    assert server.calls == 1 and not getattr(error.value, "transient", False)
    assert "'end0'" in message and "127.0.0.1" in message and hint in message
    assert "sk-mine" not in message


def test_without_a_model_the_setting_is_named(make_door: MakeDoor) -> None:
    with pytest.raises(InputError, match="no model is set") as error:
        text(make_door("", endpoint={"model": ""}))
    assert "endpoints.end0.model" in error.value.hint and "local" in error.value.hint


def test_a_model_of_no_known_provider_without_a_url_is_the_users_to_mend(make_door: MakeDoor) -> None:
    with pytest.raises(InputError, match=r"does not know the model.*no provider that is known") as error:
        text(make_door("", endpoint={"model": "unheard-of"}))
    assert "provider/name" in error.value.hint and "endpoints.end0.url" in error.value.hint


@pytest.mark.parametrize("model", ["gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"])
def test_a_provider_without_its_key_is_the_users_to_mend(make_door: MakeDoor, model: str) -> None:
    with pytest.raises(InputError, match=r"refuses the key or the account.*(?i:key)") as error:
        text(make_door("", endpoint={"model": model}))
    assert "MODEL_API_KEY" in error.value.hint and "Traceback" not in error.value.message


def test_a_prompt_beyond_the_context_is_not_sent(make_door: MakeDoor) -> None:
    with Endpoint([]) as server, pytest.raises(ModelError, match="reads 256") as error:
        asyncio.run(
            make_door(server.url, role={"context_tokens": 256}).ask_text(
                "agent", [{"role": "user", "content": "word " * 300}]
            )
        )
    assert server.calls == 0 and "brief.tokens" in error.value.hint


def test_a_long_prompt_takes_from_the_reply_limit(make_door: MakeDoor) -> None:
    with Endpoint(["ok"]) as server:
        door = make_door(server.url, role={"context_tokens": 400, "max_tokens": 300})
        asyncio.run(door.ask_text("agent", [{"role": "user", "content": "word " * 200}]))
    assert 100 < server.requests[0]["max_tokens"] < 200
