"""What a door gives and raises for what a server says, over real HTTP with counted requests."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from asking import ASKED, GOOD, MakeDoor, Query, ask, text
from endpoint import Body, Cut, Delay, Endpoint, Filtered, Samples, Status

from tasks.core.errors import BudgetError, ModelError
from tasks.core.llm import budget
from tasks.core.llm.door import Door
from tasks.core.llm.tokens import count

# ---- requests -------------------------------------------------------------------------------------------------------


def test_a_request_carries_what_the_role_says(make_door: MakeDoor) -> None:
    role = {"temperature": 0.3, "top_p": 0.9, "max_tokens": 77}
    with Endpoint([GOOD]) as server:
        asked = ask(make_door(server.url, role=role), samples=2)
    body = server.requests[0]
    assert asked.values == (Query(sql="SELECT 1"),) * 2 and asked.texts == (GOOD, GOOD) and not asked.problems
    assert (body["model"], body["messages"], body["n"]) == ("scripted", ASKED, 2)
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.3, 0.9, 77)
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["sql"]
    assert not {"tools", "enable_thinking", "chat_template_kwargs", "stream"} & set(body)


def test_defaults_are_not_sent(make_door: MakeDoor) -> None:
    with Endpoint(["ok"]) as server:
        text(make_door(server.url, role={"native_schema": False}))
    assert set(server.requests[0]) <= {"model", "messages", "max_tokens", "temperature"}


URLS = {"{}": "/v1", "{}/": "/v1", "{}/v1": "/v1", "{}/v1/": "/v1", "{}/v1/chat/completions": "/v1",
        "{}/proxy": "/proxy/v1", "{}/api/v3": "/api/v3", "{}/v1beta/openai/": "/v1beta/openai"}  # fmt: skip


@pytest.mark.parametrize(("written", "path"), URLS.items())
def test_a_url_is_taken_with_or_without_its_version(make_door: MakeDoor, written: str, path: str) -> None:
    with Endpoint(["ok"]) as server:
        assert text(make_door(written.format(server.url.removesuffix("/v1")))).value == "ok"
    assert server.paths == [f"{path}/chat/completions"]


def test_the_key_is_sent_and_another_providers_is_not(make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    with Endpoint(["ok", "ok"]) as server:
        door = make_door(server.url, journal={"repeat": 1})
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-place")
        text(door)
        monkeypatch.setenv("MODEL_API_KEY", "sk-mine-1234567")
        text(make_door(server.url, journal={"repeat": 2}))
    assert [headers["authorization"] for headers in server.headers] == ["Bearer none", "Bearer sk-mine-1234567"]


THINKING = [("qwen3-32b", True, True), ("qwen3-32b", False, False), ("qwen3-4b-instruct-2507", False, None),
            ("glm-4.5", False, False), ("llama-3.3-70b", False, None), ("llama-3.3-70b", True, True)]  # fmt: skip


@pytest.mark.parametrize(("model", "wanted", "sent"), THINKING)
def test_thinking_is_switched_where_it_matters(
    make_door: MakeDoor, model: str, wanted: bool, sent: bool | None
) -> None:
    reply = {"content": "<think>\nhm {}\n</think>\n\n" + GOOD, "reasoning_content": "hm"}
    with Endpoint([reply]) as server:
        asked = ask(make_door(server.url, role={"thinking": wanted}, endpoint={"model": model}))
    assert asked.texts == (GOOD,)
    assert server.requests[0].get("chat_template_kwargs", {}).get("enable_thinking") is sent
    assert server.requests[0].get("enable_thinking") is sent


ANTHROPIC = {
    "id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
    "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": GOOD}],
    "usage": {"input_tokens": 5, "output_tokens": 7},
}  # fmt: skip
OLLAMA = {
    "model": "qwen", "created_at": "2024-01-01T00:00:00Z", "done": True, "done_reason": "stop",
    "message": {"role": "assistant", "content": GOOD}, "prompt_eval_count": 5, "eval_count": 7,
}  # fmt: skip
PROVIDERS = {
    "anthropic": ("anthropic", "claude-sonnet-4-5", ANTHROPIC, "/v1/messages"),
    "ollama": ("ollama_chat", "qwen2.5", OLLAMA, "/api/chat"),
}


@pytest.mark.parametrize(("provider", "model", "reply", "path"), PROVIDERS.values(), ids=PROVIDERS.keys())
@pytest.mark.parametrize("version", ["", "/v1"])
def test_other_protocols_are_spoken(
    make_door: MakeDoor, monkeypatch: pytest.MonkeyPatch, provider: str, model: str, reply: Any, path: str, version: str
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-mine-1234567")
    with Endpoint([Body(json.dumps(reply).encode())]) as server:
        url = server.url.removesuffix("/v1") + version
        asked = ask(make_door(url, endpoint={"provider": provider, "model": model}, role={"thinking": True}))
    assert asked.texts == (GOOD,) and (asked.usage.tokens_in, asked.usage.tokens_out) == (5, 7)
    assert server.paths[0] == path and server.requests[0]["model"] == model


# ---- samples --------------------------------------------------------------------------------------------------------


def test_valid_samples_are_given_in_order_and_the_others_are_named(make_door: MakeDoor) -> None:
    replies = Samples(
        ['{"sql": "a"}', "no idea", '{"sql": "c"}', Cut('{"sql": "d'), {"content": None, "refusal": "No"}]
    )
    with Endpoint([replies]) as server:
        door = make_door(server.url)
        asked = ask(door, samples=5)
    assert [value.sql for value in asked.values] == ["a", "c"] and asked.texts[1] == "no idea"
    assert [problem.split(":")[0] for problem in asked.problems] == [
        f"reply {index} of 5 is not usable" for index in (2, 4, 5)
    ]
    assert server.calls == 1 and asked.usage.calls == 5


def test_a_server_that_counts_the_first_sample_alone_is_not_believed(make_door: MakeDoor) -> None:
    sql = "SELECT " + ", ".join(f"column_{index}" for index in range(40))
    with Endpoint([Samples([f'{{"sql": "{sql}"}}'] * 5)]) as server:
        server.counts_first_only = True
        asked = ask(make_door(server.url), samples=5)
    assert asked.usage.tokens_out == 5 * count(f'{{"sql": "{sql}"}}')


@pytest.mark.parametrize("how", ["rejected", "ignored"])
def test_a_server_without_n_gets_several_requests(make_door: MakeDoor, how: str) -> None:
    replies = [f'{{"sql": "{index}"}}' for index in range(6)]
    script = replies if how == "rejected" else [Samples([reply]) for reply in replies]
    with Endpoint(script, rejects=["n"] if how == "rejected" else []) as server:
        asked = ask(make_door(server.url), samples=3)
        again = ask(make_door(server.url, store="other"), samples=3)
    assert {value.sql for value in (*asked.values, *again.values)} == {str(index) for index in range(6)}
    assert asked.usage.calls == 3 and not asked.problems
    asked_for_n = [body.get("n") for body in server.requests]
    assert asked_for_n == ([3] + [None] * 6 if how == "rejected" else [3, None, None, 3, None, None])


# ---- fields that a server does not take -----------------------------------------------------------------------------


@pytest.mark.parametrize("code", [400, 422])
def test_a_rejected_schema_is_left_out_and_not_sent_again(make_door: MakeDoor, code: int) -> None:
    def answer(body: dict[str, Any]) -> Any:
        rejected = "response_format" in body
        return Status(code, {"detail": "response_format: extra fields not permitted"}) if rejected else GOOD

    with Endpoint(answer) as server:
        asked = ask(make_door(server.url))
        again = ask(make_door(server.url, store="other"))
    assert asked.value == again.value == Query(sql="SELECT 1")
    assert ["response_format" in body for body in server.requests] == [True, False, False]
    assert "takes no schema" in asked.problems[0]


def test_several_rejected_fields_are_left_out_one_by_one(make_door: MakeDoor) -> None:
    rejected = ["response_format", "temperature", "chat_template_kwargs", "n"]
    with Endpoint(lambda _: GOOD, rejects=rejected) as server:
        asked = ask(make_door(server.url, role={"thinking": True, "temperature": 0.5}), samples=2)
    assert len(asked.values) == 2 and server.calls == 6
    assert not set(rejected) & set(server.requests[-1])


def test_the_newer_name_of_the_token_limit_is_used_when_asked_for(make_door: MakeDoor) -> None:
    def answer(body: dict[str, Any]) -> Any:
        words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return Status(400, {"error": {"message": words}}) if "max_tokens" in body else "ok"

    with Endpoint(answer) as server:
        assert text(make_door(server.url)).value == "ok"
    assert server.requests[1]["max_completion_tokens"] == 4000


# ---- replies of no use ----------------------------------------------------------------------------------------------


def test_one_repair_turn_shows_the_model_its_errors(make_door: MakeDoor) -> None:
    with Endpoint(['{"query": 1}', GOOD]) as server:
        asked = ask(make_door(server.url))
    assert asked.value.sql == "SELECT 1" and asked.usage.calls == 2
    *first, reply, complaint = server.requests[1]["messages"]
    assert first == ASKED and reply == {"role": "assistant", "content": '{"query": 1}'}
    assert "- sql: Field required" in complaint["content"]
    assert asked.problems[0].startswith("reply 1 of 1 is not usable")


def test_replies_that_stay_invalid_are_an_error(make_door: MakeDoor) -> None:
    with (
        Endpoint(["one", "two", "three"]) as server,
        pytest.raises(ModelError, match=r"no usable reply.*agent") as error,
    ):
        ask(make_door(server.url, role={"repairs": 2}))
    assert server.calls == 3 and not error.value.transient


def test_a_reply_that_was_cut_off_is_asked_again_with_more_room(make_door: MakeDoor) -> None:
    with Endpoint([Cut('{"sql": "SELECT'), GOOD]) as server:
        asked = ask(make_door(server.url, role={"max_tokens": 100, "context_tokens": 1000}))
    assert asked.value.sql == "SELECT 1"
    assert [body["max_tokens"] for body in server.requests] == [100, 400]
    assert server.requests[0]["messages"] == server.requests[1]["messages"]
    assert "cut off at 100 tokens, asked again for 400" in asked.problems


def test_more_room_stays_within_the_context(make_door: MakeDoor) -> None:
    with Endpoint([Cut("a"), Cut("b")]) as server, pytest.raises(ModelError, match="cut off at 2") as error:
        text(make_door(server.url, role={"max_tokens": 200, "context_tokens": 300}))
    assert 250 < server.requests[1]["max_tokens"] < 300 and server.calls == 2
    assert "max_tokens" in error.value.hint


def test_a_whole_object_before_the_cut_counts(make_door: MakeDoor) -> None:
    with Endpoint([Cut(GOOD + " This query says")]) as server:
        assert ask(make_door(server.url)).value.sql == "SELECT 1"
    assert server.calls == 1


@pytest.mark.parametrize("empty", ["", "  \n", {"content": None}, "<think>hm</think>"])
def test_an_empty_reply_is_asked_for_once_more(make_door: MakeDoor, empty: Any) -> None:
    with Endpoint([empty, "ok"]) as server:
        door = make_door(server.url)
        asked = text(door)
        again = text(make_door(server.url))
    assert (asked.value, asked.problems, server.calls) == ("ok", ("empty reply",), 2)
    assert again.value == "ok" and again.usage.journaled == 2


def test_replies_that_stay_empty_are_an_error_that_the_next_run_may_end(make_door: MakeDoor) -> None:
    with Endpoint(["", "", "ok"]) as server:
        with pytest.raises(ModelError, match="empty"):
            text(make_door(server.url, role={"repairs": 0}))
        assert text(make_door(server.url, role={"repairs": 0})).value == "ok"
    assert server.calls == 3


REFUSALS = {
    "refusal field": ({"content": None, "refusal": "I will not do that."}, "I will not do that."),
    "content filter": (Filtered("part"), "content filter"),
    "filter as error": (
        Status(400, {"error": {"message": "The response was filtered due to the content management policy",
                               "code": "content_filter"}}), "content management policy"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "words"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_says_so_and_is_not_pressed(make_door: MakeDoor, reply: Any, words: str) -> None:
    with Endpoint([reply, "ok"]) as server:
        with pytest.raises(ModelError, match=f"refuses.*{words}") as error:
            text(make_door(server.url))
        assert server.calls == 1 and not error.value.transient
        assert text(make_door(server.url)).value == "ok"  # a refusal does not bar the next run


# ---- several endpoints ----------------------------------------------------------------------------------------------


async def ask_many(door: Door, count: int) -> list[str]:
    asks = (door.ask_text("agent", [{"role": "user", "content": f"question {i}"}]) for i in range(count))
    return [asked.value for asked in await asyncio.gather(*asks)]


def test_requests_are_spread_over_endpoints_within_their_limits(make_door: MakeDoor) -> None:
    with Endpoint(lambda _: Delay(0.05, "a")) as one, Endpoint(lambda _: Delay(0.05, "b")) as two:
        door = make_door(one.url, two.url, endpoint={"concurrency": 2})
        values = asyncio.run(ask_many(door, 12))
    assert len(values) == 12 and one.calls == two.calls == 6
    assert one.most_at_once <= 2 and two.most_at_once <= 2


def test_the_less_busy_endpoint_takes_the_next(make_door: MakeDoor) -> None:
    with Endpoint(lambda _: Delay(0.6, "slow")) as slow, Endpoint(lambda _: "fast") as fast:
        door = make_door(slow.url, fast.url, endpoint={"concurrency": 8})

        async def one_slow_then_others() -> None:
            first = asyncio.create_task(door.ask_text("agent", [{"role": "user", "content": "first"}]))
            while not slow.calls:
                await asyncio.sleep(0.01)
            for index in range(4):
                await door.ask_text("agent", [{"role": "user", "content": str(index)}])
            await first

        asyncio.run(one_slow_then_others())
    assert (slow.calls, fast.calls) == (1, 4)


def test_a_failing_endpoint_is_left_alone_for_a_while(make_door: MakeDoor) -> None:
    with Endpoint(lambda _: Status(503, "down")) as down, Endpoint(lambda _: "ok") as up:
        door = make_door(down.url, up.url, retry={"cool_seconds": 60, "first_seconds": 30})
        values = [asyncio.run(ask_many(door, 1)), asyncio.run(ask_many(door, 5))]
    assert values == [["ok"], ["ok"] * 5]
    assert down.calls == 1


def test_it_is_tried_again_after_that_while(make_door: MakeDoor) -> None:
    with Endpoint([Status(503, "down"), "first"]) as one, Endpoint(lambda _: "second") as two:
        door = make_door(one.url, two.url, retry={"cool_seconds": 0.2})
        asyncio.run(ask_many(door, 1))
        time.sleep(0.25)
        asyncio.run(door.ask_text("agent", [{"role": "user", "content": "later"}]))
    assert (one.calls, two.calls) == (2, 1)


# ---- budget ---------------------------------------------------------------------------------------------------------


def test_calls_are_counted_by_stage_with_tokens_and_seconds(make_door: MakeDoor) -> None:
    with Endpoint(["one two three", Samples(["one", "two words"])]) as server:
        door = make_door(server.url)
        with budget.stage("contract"):
            text(door)
        with budget.stage("agent"):
            text(door, samples=2)  # the first sample is read again: this run has paid for it, and it is counted above
    spent = {stage.stage: stage for stage in door.meter.spend().stages}
    assert (spent["contract"].calls, spent["contract"].tokens_out) == (1, 3)
    assert (spent["agent"].calls, spent["agent"].journaled) == (1, 0)
    assert spent["contract"].tokens_in > 0 and spent["contract"].seconds > 0


def test_concurrent_requests_do_not_overshoot_the_limit_of_calls(make_door: MakeDoor) -> None:
    with Endpoint(lambda _: Delay(0.1, "ok")) as server:
        door = make_door(server.url, budget={"calls": 3})
        with pytest.raises(BudgetError, match=r"budget of calls.*of 3") as error:
            asyncio.run(ask_many(door, 8))
        time.sleep(0.2)
    assert server.calls <= 3 and "budget.calls" in error.value.hint


def test_the_end_of_the_runs_time_stops_a_request_under_way(make_door: MakeDoor) -> None:
    with Endpoint(["ok", Delay(1.5, "late")]) as server:
        text(make_door(server.url, store="warm", role={"timeout_seconds": 9}))  # litellm is imported by now
        door = make_door(server.url, budget={"seconds": 0.5})
        started = time.monotonic()
        with pytest.raises(BudgetError, match=r"budget of seconds.*of 0\.5"):
            text(door)
        assert time.monotonic() - started < 1.4


# ---- the key of a stage ---------------------------------------------------------------------------------------------


def test_identity_is_what_changes_a_reply(make_door: MakeDoor) -> None:
    one = make_door("http://a/v1").identity("agent")
    other = make_door("http://b", role={"timeout_seconds": 1, "attempts": 9}, endpoint={"concurrency": 9})
    assert other.identity("agent") == one and one["model"] == "scripted"
    for changed in (
        make_door("http://a/v1", endpoint={"model": "another"}),
        make_door("http://a/v1", role={"temperature": 0.1}),
        make_door("http://a/v1", role={"thinking": True}),
        make_door("http://a/v1", journal={"repeat": 1}),
    ):
        assert changed.identity("agent") != one
